// sandbox/launcher/copy_folder.h - copies what a session keeps in its files.
#pragma once

namespace agon::sandbox::launcher {

// Copies all beneath the folder `from` into the empty folder `to` (descriptors): regular files with their holes, links,
// pipes, modes. The guest owns `from` and may change it meanwhile: links are not followed, what is gone is left out.
// Throws std::system_error when the copy does not fit or the folders are too deep.
void copy_folder(int from, int to, int depth = 0);

}  // namespace agon::sandbox::launcher
