// agents/hub/json_file.h - reads the small files of a model folder.
#pragma once

#include <filesystem>
#include <string>

#include "core/json.h"

namespace agon::agents {

// Throws Error for a file that cannot be read, or is larger than 256 MB (a tokenizer has about 10 MB).
std::string read_small_file(const std::filesystem::path& path);
Json read_json_file(const std::filesystem::path& path);  // throws Error for a file that cannot be read or is not JSON

}  // namespace agon::agents
