// sandbox/launcher/session/copy_folder.h - copies a session's files. The guest owns what is copied, and may change it
// meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "sandbox/launcher/session/folder.h"

namespace agon::sandbox::launcher {

class FolderCopy {
 public:
  // What the copy may hold in all. Throws std::system_error from add() where it would be more.
  FolderCopy(std::int64_t most_bytes, std::int64_t most_files) : bytes_(most_bytes), files_(most_files) {}

  // Copies all beneath `from` into the empty folder `to`: regular files with their holes and their hard links, links,
  // pipes, modes. Links are not followed, what is gone is left out, of files that grow the part that was there. Throws
  // std::system_error when something does not fit or the folders are too deep.
  void add(const Folder& from, const Folder& to);

 private:
  struct Copied {  // of a file with several names: where its copy is, beneath which folder
    int top = -1;
    std::string path;
    Folder::Identity identity;
  };
  void copy(const Folder& from, const Folder& to, const std::string& path, int depth);
  void copy_entry(const Folder& from, const Folder& to, const char* name, const std::string& path, int depth);
  void copy_file(const Folder& from, const Folder& to, const char* name, const std::string& path, mode_t mode);
  void copy_bytes(int from, int to);
  bool link_copy(const Copied& copied, const Folder& to, const char* name) const;

  std::int64_t bytes_, files_;
  int top_ = -1;
  std::map<std::pair<dev_t, ino_t>, Copied> copied_;
};

}  // namespace agon::sandbox::launcher
