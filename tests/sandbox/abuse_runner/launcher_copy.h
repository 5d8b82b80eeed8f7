// tests/sandbox/abuse_runner/launcher_copy.h - a copy of the launcher that every user can start.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace agon::sandbox::abuse {

// A copy of the launcher in a folder that every user can read; owned by the user who runs the case.
class LauncherCopy {
 public:
  explicit LauncherCopy(uid_t user);
  ~LauncherCopy();
  std::string path() const { return folder_ / "agon-sandbox"; }

 private:
  std::filesystem::path folder_;
};

}  // namespace agon::sandbox::abuse
