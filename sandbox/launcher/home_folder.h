// sandbox/launcher/home_folder.h - a session's files where there are no mount namespaces: a folder, removed at the end.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sandbox/launcher/descriptor.h"

namespace agon::sandbox::launcher {

inline constexpr std::array kHomeFolders = {"workspace", "tmp", "shm"};

class HomeFolder {
 public:
  // Makes `path`, with a copy of the files of `parent` or empty folders. Throws std::system_error.
  HomeFolder(std::string path, const HomeFolder* parent);
  ~HomeFolder();
  HomeFolder(const HomeFolder&) = delete;
  HomeFolder& operator=(const HomeFolder&) = delete;

  const std::string& path() const { return path_; }
  const Descriptor& descriptor() const { return folder_; }
  // Landlock's rules nest: the folder of a fork lies beneath that of the session it was forked from.
  std::string path_of_fork(int session) const;

 private:
  std::string path_;
  Descriptor folder_;
};

struct FilesUse {
  std::int64_t bytes = 0, files = 0;
};
// Of everything beneath the folder; stops counting at `most_files`. The guest may change it meanwhile.
FilesUse files_use(const Descriptor& folder, std::int64_t most_files);

// With all beneath, however deep; as far as permissions allow.
void remove_folder(const std::string& path);

}  // namespace agon::sandbox::launcher
