// cli/flags/assignments.h - flags of the form KEY=VALUE.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/json.h"

namespace agon::cli {

// Key and value. Throws Error, which begins with `flag` ("credit: --set"), for a text without either.
std::pair<std::string, std::string> split_assignment(const std::string& text, const std::string& flag);
// Throws Error for a key that is given twice.
void require_keys_once(const std::vector<std::string>& assignments, const std::string& flag);
// An object of them all, each key once. A value reads as JSON where it can, else as text: 0.1, true, pairwise.
Json settings_of(const std::vector<std::string>& assignments, const std::string& flag);

}  // namespace agon::cli
