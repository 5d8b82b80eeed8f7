// sandbox/launcher/session/copy_folder.h - copies a session's files for a fork. The guest owns the files and may change
// them meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "sandbox/launcher/session/folder.h"

namespace agon::sandbox::launcher {

class FolderCopy {
 public:
  // The maximum size of the copy. add() throws std::system_error if it would be larger.
  FolderCopy(std::int64_t most_bytes, std::int64_t most_files) : bytes_(most_bytes), files_(most_files) {}

  // Copies everything beneath `from` into the empty folder `to`: regular files with their holes and hard links,
  // symbolic links, pipes, modes. Symbolic links are not followed. Files that disappear meanwhile are skipped; of files
  // that grow, the original part is copied. Throws std::system_error if something does not fit or the folders are too
  // deep.
  void add(const Folder& from, const Folder& to);

 private:
  struct Copied {  // the copy of a file with several names: `path` beneath the folder `top`
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
