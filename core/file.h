// core/file.h - the one way to write files that must survive a crash of the program or of the machine. A file appears
// whole or not at all, and it is durable once the call has returned. Everything that a resume reads is written here.
// Each function throws Error with the path and the system's reason.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/descriptor.h"

namespace agon {

// Writes a file beside its place and then puts it there. Until commit() the file that was there is untouched; a writer
// that is destroyed before removes what it wrote. A symbolic link stays, and what it points to is written.
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

  std::string path_, target_, temporary_;  // as asked for; behind a link; beside it
  Descriptor file_;
};

void write_file_atomically(const std::string& path, std::string_view content);  // all of it, by a FileWriter

// A log: a file that grows at its end, made where it is not there. What is added survives the program; what is synced
// the machine too. An addition that fails, as on a full disk, leaves the file as it was before it.
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
// Makes a folder and those above it that are not there, and syncs the folders that they stand in.
void make_folders(const std::filesystem::path& folder);
void sync_file(const std::filesystem::path& path);  // or a folder: the names in it; nothing where it is not there
// Removes what writers of processes that are no more have left in a folder (a killed one cannot).
void remove_left_over(const std::filesystem::path& folder);
// The Error of the above, for who writes by other means: `code` is errno.
[[noreturn]] void throw_write_error(const std::string& path, int code);

// For tests. `probe` is called before every system call of the above with its name ("open", "write", "sync", "rename",
// "sync folder") and the path; an error code that it returns is what the call fails with. Empty: none.
using FileProbe = std::function<int(std::string_view call, const std::string& path)>;
void set_file_probe(FileProbe probe);

}  // namespace agon
