// core/file.h - the one way to write files that must survive a crash of the program or of the machine; only databases
// (run.sqlite) are written by SQLite instead. FileWriter: a file appears whole or not at all, and is durable after
// commit(). Each function throws Error with the path and the system's reason.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/descriptor.h"

namespace agon {

// Writes a temporary file next to the target and renames it into place. Until commit() the old file is untouched; a
// writer that is destroyed earlier removes its temporary file. A symbolic link is kept and its target is written.
class FileWriter {
 public:
  explicit FileWriter(const std::filesystem::path& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::string_view bytes);
  void commit();  // syncs the file, renames it, syncs its folder; once, and nothing after it

 private:
  void fail(int code);

  std::string path_, target_, temporary_;  // as asked for; the link's target; the temporary file
  Descriptor file_;
};

void write_file_atomically(const std::string& path, std::string_view content);  // by a FileWriter

// An append-only log file, created if absent. Added bytes survive a crash of the program; synced bytes also survive a
// crash of the machine. A failed addition, as on a full disk, leaves the file unchanged.
class AppendedFile {
 public:
  explicit AppendedFile(const std::filesystem::path& path);

  void add(std::string_view bytes);
  void sync();

 private:
  std::string path_;
  Descriptor file_;
};

// Renames a file or a folder whose content is synced, and syncs the folders on both sides.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);
// Creates a folder and its missing parents, and syncs the folders that contain them.
void make_folders(const std::filesystem::path& folder);
void sync_file(const std::filesystem::path& path);  // of a folder: the names in it; does nothing if absent
// Removes temporary files left in a folder by ended processes (a killed process cannot remove its own).
void remove_left_over(const std::filesystem::path& folder);
// The Error that the functions above throw, for callers that write by other means. `code` is errno.
[[noreturn]] void throw_write_error(const std::string& path, int code);

// For tests. `probe` is called before every system call of the functions above, with its name ("open", "write", "sync",
// "rename", "sync folder") and the path. If it returns an error code, the call fails with that. Empty: no probe.
using FileProbe = std::function<int(std::string_view call, const std::string& path)>;
void set_file_probe(FileProbe probe);

}  // namespace agon
