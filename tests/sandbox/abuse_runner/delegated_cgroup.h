// tests/sandbox/abuse_runner/delegated_cgroup.h - a cgroup for tier A, as a service manager delegates it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace agon::sandbox::abuse {

// Tier A needs a cgroup of its own, delegated as a service manager does it: what is run here is in one, which is empty
// and gone afterwards.
class DelegatedCgroup {
 public:
  explicit DelegatedCgroup(uid_t user);
  void enter() const;
  // Once nobody is in it: the names of cgroups that were left, except the host's own.
  std::vector<std::string> remove() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace agon::sandbox::abuse
