// tests/sandbox/abuse_runner/delegated_cgroup.h - a cgroup for tier A, as a service manager delegates it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace agon::sandbox::abuse {

// A cgroup for tier A, delegated as a service manager does it. The sandbox runs in it; afterwards it must be empty and
// is removed.
class DelegatedCgroup {
 public:
  explicit DelegatedCgroup(uid_t user);
  void enter() const;
  // Call it once no process is in the cgroup. Returns the names of the cgroups that were left in it, except the host's
  // own.
  std::vector<std::string> remove() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace agon::sandbox::abuse
