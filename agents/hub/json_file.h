// agents/hub/json_file.h - reads the JSON files of a model folder.
#pragma once

#include <filesystem>

#include "core/json.h"

namespace agon::agents {

Json read_json_file(const std::filesystem::path& path);  // throws Error for a file that cannot be read or is not JSON

}  // namespace agon::agents
