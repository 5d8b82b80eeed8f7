// core/paths.h - finds a path that the user named twice, in files or flags.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace agon {

// The first path that leads to the same file or folder as an earlier one; links are followed.
std::optional<std::filesystem::path> repeated_path(std::span<const std::filesystem::path> paths);
// Throws Error if there is one, because a file read twice would count twice. where: the beginning of the message,
// "eval-rm: --file".
void require_each_path_once(const std::string& where, std::span<const std::filesystem::path> paths);

}  // namespace agon
