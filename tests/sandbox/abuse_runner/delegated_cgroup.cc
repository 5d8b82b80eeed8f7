#include "tests/sandbox/abuse_runner/delegated_cgroup.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "core/error.h"
#include "core/text.h"

namespace agon::sandbox::abuse {
namespace fs = std::filesystem;

DelegatedCgroup::DelegatedCgroup(uid_t user) {
  std::string own = read_file("/proc/self/cgroup");
  own = std::string(trim(own.substr(own.find("0::") + 3)));
  folder_ = fs::path("/sys/fs/cgroup" + own) / fmt::format("abuse-{}", getpid());
  fs::create_directory(folder_);
  for (const char* name : {".", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"})
    if (chown((folder_ / name).c_str(), user, user) != 0) throw Error("abuse: chown {}", folder_.string());
}

void DelegatedCgroup::enter() const { std::ofstream(folder_ / "cgroup.procs") << getpid(); }

std::vector<std::string> DelegatedCgroup::remove() const {
  std::vector<std::string> left;
  rmdir((folder_ / "agon-host").c_str());
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.is_directory()) left.push_back(entry.path());
  rmdir(folder_.c_str());
  return left;
}

}  // namespace agon::sandbox::abuse
