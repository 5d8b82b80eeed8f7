// core/paths.h - paths as people name them in files and flags.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace agon {

// The first of the paths that leads to the same file or folder as one before it, links followed.
std::optional<std::filesystem::path> repeated_path(std::span<const std::filesystem::path> paths);
// Throws Error where there is one, since a file read twice would count twice. where: the beginning of the message,
// "eval-rm: --file".
void require_each_path_once(const std::string& where, std::span<const std::filesystem::path> paths);

}  // namespace agon
