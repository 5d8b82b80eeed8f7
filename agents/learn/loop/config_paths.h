// agents/learn/loop/config_paths.h - paths in the config of a training: one in the file is relative to the file, one of
// --set to the working folder.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "core/json.h"

namespace agon::agents {

// The keys that hold paths, as JSON pointers; '*' stands for every entry of a list ("/sources/*/solvers/*").
using PathKeys = std::span<const char* const>;

// Puts change(text) in the place of every text at `keys` that is not empty. Other values stay: who reads them says what
// is wrong with them.
void change_paths(Json& config, PathKeys keys, const std::function<std::string(const std::string& path)>& change);

// A path of the file as seen from the working folder, without needless parts: what a user can type.
std::string from_working_folder(const std::filesystem::path& file, const std::string& path);
// The other way round: what the file has to say for a path that is relative to the working folder.
std::string from_file(const std::filesystem::path& file, const std::string& path);

// The config of a YAML file with `changes` ("KEY=VALUE") made to it; all its paths are relative to the file, so that
// the config is the same whatever the working folder. Throws Error as read_yaml and set_value do.
Json read_config(const std::filesystem::path& file, std::span<const std::string> changes, PathKeys keys);

}  // namespace agon::agents
