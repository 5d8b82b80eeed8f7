// core/paths.h - paths as people name them in files and flags.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace agon {

// The picture file that `name` is, in `folder`. Throws Error for an empty name, and for an address (http://, file://,
// data:), of which the message holds the beginning: pictures are read from files alone.
std::filesystem::path picture_path(const std::string& name, const std::filesystem::path& folder = {});
// The first of the paths that leads to the same file or folder as one before it, links followed.
std::optional<std::filesystem::path> repeated_path(std::span<const std::filesystem::path> paths);

}  // namespace agon
