// cli/paid.h - the cost of a command's requests to servers whose YAML file has a price.
#pragma once

#include <string>
#include <vector>

#include "agents/policy.h"

namespace agon::cli {

// US dollars. The policies may be null, and those of model folders cost nothing.
double usd_paid(const std::vector<const agents::Policy*>& policies);
// Prints the sum on standard error unless it is 0.
void note_paid(const std::string& command, const std::vector<const agents::Policy*>& policies);

}  // namespace agon::cli
