// sandbox/launcher/copy_folder.h - walks a folder that a guest owns, and copies what a session keeps in its files.
#pragma once

#include <functional>

namespace agon::sandbox::launcher {

// The names in a folder (a descriptor, which stays the caller's), without . and ..; none where it cannot be read.
void for_each_entry(int folder, const std::function<void(const char* name)>& use);

// Copies all beneath the folder `from` into the empty folder `to` (descriptors): regular files with their holes, links,
// pipes, modes. The guest owns `from` and may change it meanwhile: links are not followed, what is gone is left out.
// Throws std::system_error when the copy does not fit or the folders are too deep.
void copy_folder(int from, int to, int depth = 0);

}  // namespace agon::sandbox::launcher
