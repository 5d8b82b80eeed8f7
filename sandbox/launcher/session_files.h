// sandbox/launcher/session_files.h - what goes into a session's workspace and what comes out. The guest may have put anything there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/launcher/descriptor.h"

namespace agon::sandbox {

// Writes a file of the workspace. The guest may have put anything in its place: links are not followed, and only a regular file is
// written. Throws std::system_error.
void write_file(const Descriptor& home, const std::string& name, const std::string& bytes);

// Reads a regular file of the workspace beneath which no link leads out, at most `most` bytes. Throws std::system_error.
std::string read_file(const Descriptor& home, const std::string& name, std::int64_t most);

// Names of the regular files directly in the workspace that look like pictures, by name, the oldest call's left out: changed at or after
// `since` (seconds of the real-time clock). At most `most` of them.
std::vector<std::string> changed_pictures(const Descriptor& home, double since, std::size_t most);

}  // namespace agon::sandbox
