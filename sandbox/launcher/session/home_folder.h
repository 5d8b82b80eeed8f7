// sandbox/launcher/session/home_folder.h - a session's files where there are no mount namespaces:
//   FOLDER OF THE SANDBOX/7      of session 7: no guest can write here
//     files/                     its own: workspace, tmp, shm
//     forks/                     of the sessions that were forked from it
//       9                        as 7
// Landlock's rules nest, so a fork's files lie where the session that it was forked from may write as well. Names in
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
  // Creates the folders in the folder of all sessions, with a home's folders; or, for a fork, in its parent's, without
  // them. Throws std::system_error.
  HomeFolder(const std::string& folder, int session, const HomeFolder* parent);

  const std::string& path() const { return path_; }            // of the session's folder
  std::string files_path() const { return path_ + "/files"; }  // what the session calls its home
  Folder::Identity identity() const { return identity_; }
  // The session's files, and its folder with what is in `forks`. Throw std::system_error where somebody has moved them.
  Folder files() const;
  Folder all() const;
  void copy_from(const HomeFolder& parent, std::int64_t most_bytes, std::int64_t most_files) const;
  // Of a fork that has ended: to where no guest can write, whatever the one that it came from does meanwhile.
  void move_away();
  void remove() const;  // as far as it still is where it was

 private:
  Folder place() const;             // that holds it
  std::string folder_;              // of all sessions
  std::vector<std::string> names_;  // from there: 7, forks, 9
  std::string path_;
  Folder::Identity identity_, files_;
};

struct FilesUse {
  std::int64_t bytes = 0, files = 0;
};
// Of everything beneath the folder of a session but `others`, and of files that these processes have open and that have
// no name any more; stops counting at `most_files`. The guest may change it meanwhile.
FilesUse files_use(const Folder& folder, std::int64_t most_files, const std::vector<Folder::Identity>& others = {},
                   const std::vector<pid_t>& processes = {});

// Files of a folder that have no name any more and that the processes have mapped: the kernel does not tell their
// sizes. Two are let go by the size of what is mapped, each further one counts as `most_bytes`.
std::int64_t mapped_nameless_files(const std::string& folder, const std::vector<pid_t>& processes,
                                   std::int64_t most_bytes);

}  // namespace agon::sandbox::launcher
