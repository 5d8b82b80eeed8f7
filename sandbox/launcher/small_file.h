// sandbox/launcher/small_file.h - reads and writes files that the kernel generates, in /proc and /sys/fs/cgroup. Paths
// are relative to `folder` (AT_FDCWD: the working folder).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {

std::string read_all(int descriptor);                                               // until the end or an error
std::optional<std::string> read_small_file(int folder, const std::string& path);    // empty if it cannot be opened
void write_small_file(int folder, const std::string& path, std::string_view text);  // throws std::system_error

// A file in memory that is in no folder, so a change of root does not affect it. Reading starts at its beginning.
// Throws std::system_error.
Descriptor memory_file(const char* name, std::string_view content);

}  // namespace agon::sandbox::launcher
