// sandbox/launcher/small_file.h - files that the kernel makes up: /proc, /sys/fs/cgroup. Paths are beneath `folder`
// (AT_FDCWD: the working folder).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {

std::string read_all(int descriptor);                                               // until its end, or its error
std::optional<std::string> read_small_file(int folder, const std::string& path);    // nothing where it cannot be opened
void write_small_file(int folder, const std::string& path, std::string_view text);  // throws std::system_error

// A file in no folder, which a change of roots does not touch; read from its start. Throws std::system_error.
Descriptor memory_file(const char* name, std::string_view content);

}  // namespace agon::sandbox::launcher
