// sandbox/launcher/session/home_folder.h - the folder of a session's files if there are no mount namespaces:
//   FOLDER OF THE SANDBOX/7      the folder of session 7; no guest can write here
//     files/                     the session's own files: workspace, tmp, shm
//     forks/                     the folders of sessions that were forked from it
//       9                        laid out like 7
// Landlock's rules nest, so a fork's files are where the session that it was forked from may write as well. Names in
// `forks` are therefore hostile, and nothing is found by its name alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/launcher/session/folder.h"

namespace agon::sandbox::launcher {

inline constexpr std::array kHomeFolders = {"workspace", "tmp", "shm"};

class HomeFolder {
 public:
  // Creates the session's folder in `folder`, the folder of all sessions, with the folders of a home. For a fork: in
  // its parent's folder, without the folders of a home. Throws std::system_error.
  HomeFolder(const std::string& folder, int session, const HomeFolder* parent);

  const std::string& path() const { return path_; }            // of the session's folder
  std::string files_path() const { return path_ + "/files"; }  // the session's home
  Folder::Identity identity() const { return identity_; }
  // files(): the session's files. all(): its folder, including `forks`. Throw std::system_error if somebody has moved
  // them.
  Folder files() const;
  Folder all() const;
  void copy_from(const HomeFolder& parent, std::int64_t most_bytes, std::int64_t most_files) const;
  // Moves the folder of an ended fork to where no guest can write, whatever the session that it was forked from does
  // meanwhile.
  void move_away();
  void remove() const;  // if it is still in its place

 private:
  Folder place() const;             // the folder that holds it
  std::string folder_;              // of all sessions
  std::vector<std::string> names_;  // its path from there: 7, forks, 9
  std::string path_;
  Folder::Identity identity_, files_;
};

struct FilesUse {
  std::int64_t bytes = 0, files = 0;
};
// Counts everything beneath a session's folder except `others`, and the deleted files that these processes have open;
// stops at `most_files`. The guest may change the folder meanwhile.
FilesUse files_use(const Folder& folder, std::int64_t most_files, const std::vector<Folder::Identity>& others = {},
                   const std::vector<pid_t>& processes = {});

// Bytes of deleted files of a folder that the processes have mapped. The kernel does not report their sizes, so the
// mapped part counts. If there are more than two such files, each further one counts `most_bytes` in addition.
std::int64_t mapped_nameless_files(const std::string& folder, const std::vector<pid_t>& processes,
                                   std::int64_t most_bytes);

}  // namespace agon::sandbox::launcher
