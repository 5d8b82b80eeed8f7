// sandbox/launcher/session/session_files.h - reads and writes files of a session's workspace. The guest may have put
// anything there.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sandbox/launcher/session/folder.h"

namespace agon::sandbox::launcher {

// Writes a file of the workspace. The guest may have put anything in its place: links are not followed, and only a
// regular file is written. Throws std::system_error; a file that does not fit is left empty.
void write_file(const Folder& home, const std::string& name, const std::string& bytes);

// A regular file of the workspace, found without following links, open for reading.
struct OpenFile {
  std::string name;
  Descriptor descriptor;
  std::int64_t size = 0;  // bytes that are not read yet, of its size when it was opened
};
// Throws std::system_error, also if it has more than `most` bytes.
OpenFile open_file(const Folder& home, const std::string& name, std::int64_t most);
// The next bytes, at most `most`; empty at the end, or if it cannot be read.
std::string read_some(OpenFile& file, std::size_t most);
std::string read_file(const Folder& home, const std::string& name, std::int64_t most);  // the whole file; throws

// Tells one state of a file from another.
struct FileState {
  std::uint64_t inode = 0;
  std::int64_t size = 0, seconds = 0, nanoseconds = 0;
  bool operator==(const FileState&) const = default;
};

// The regular files directly in the workspace that are named like pictures and are not empty. Looks at a thousand such
// names at most. Throws std::system_error.
std::map<std::string, FileState> picture_files(const Folder& home);

}  // namespace agon::sandbox::launcher
