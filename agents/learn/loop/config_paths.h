// agents/learn/loop/config_paths.h - resolves paths in the config of a training run: paths in the file are relative to
// the file, paths given by --set to the working folder.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "core/json.h"

namespace agon::agents {

// The keys that hold paths, as JSON pointers; '*' matches every entry of a list ("/sources/*/solvers/*").
using PathKeys = std::span<const char* const>;

// Replaces every non-empty text at `keys` by change(text). Other values stay; their reader reports errors in them.
void change_paths(Json& config, PathKeys keys, const std::function<std::string(const std::string& path)>& change);

// A path of the file relative to the working folder, in the short form that a user would type.
std::string from_working_folder(const std::filesystem::path& file, const std::string& path);
// The inverse: a path relative to the working folder, as the file must write it.
std::string from_file(const std::filesystem::path& file, const std::string& path);

// The config of a YAML file with `changes` ("KEY=VALUE") applied; all its paths are relative to the file, so that the
// config does not depend on the working folder. Throws Error as read_yaml and set_value do.
Json read_config(const std::filesystem::path& file, std::span<const std::string> changes, PathKeys keys);

}  // namespace agon::agents
