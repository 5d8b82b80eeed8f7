// cli/flags/assignments.h - flags of the form KEY=VALUE.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/json.h"

namespace agon::cli {

// Splits a text into key and value. Throws WrongUsage, starting with `flag` ("credit: --set"), if either is missing.
std::pair<std::string, std::string> split_assignment(const std::string& text, const std::string& flag);
// Throws WrongUsage for a key given twice.
void require_keys_once(const std::vector<std::string>& assignments, const std::string& flag);
// All assignments as one object, each key once. A value is JSON if it parses, else text: 0.1, true, pairwise.
Json settings_of(const std::vector<std::string>& assignments, const std::string& flag);

}  // namespace agon::cli
