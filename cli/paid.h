// cli/paid.h - what a call of a command paid to servers whose YAML file has a price.
#pragma once

#include <string>
#include <vector>

#include "agents/policy.h"

namespace agon::cli {

// US dollars. The policies may be null, and those of model folders cost nothing.
double usd_paid(const std::vector<const agents::Policy*>& policies);
// Says it on standard error, unless it is nothing.
void note_paid(const std::string& command, const std::vector<const agents::Policy*>& policies);

}  // namespace agon::cli
