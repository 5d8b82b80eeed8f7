// tests/sandbox/abuse_runner/launcher_copy.h - the launcher where every user can start it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace agon::sandbox::abuse {

// The launcher where every user can start it; owned by who runs the case.
class LauncherCopy {
 public:
  explicit LauncherCopy(uid_t user);
  ~LauncherCopy();
  std::string path() const { return folder_ / "agon-sandbox"; }

 private:
  std::filesystem::path folder_;
};

}  // namespace agon::sandbox::abuse
