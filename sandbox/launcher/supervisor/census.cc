#include "sandbox/launcher/supervisor/census.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {
namespace {

// Two supervisors of one user may see each other's processes, so a mark names the supervisor too. Hard limits can only
// be lowered, so later sessions have lower marks: a fork's mark is below that of the session it comes from.
constexpr rlim_t kMark = rlim_t{0x41} << 56, kHighest = 0xffffffff;
rlim_t mark_of(int session) {
  return kMark | static_cast<rlim_t>(getpid()) << 32 | (kHighest - static_cast<rlim_t>(session));
}

}  // namespace

void mark_process(pid_t process, int session) {
  const rlimit mark{mark_of(session), mark_of(session)};
  checked(prlimit(process, RLIMIT_LOCKS, &mark, nullptr), "marking a process");
}

int session_of_process(pid_t process) {
  rlimit mark{};
  if (prlimit(process, RLIMIT_LOCKS, nullptr, &mark) != 0) return 0;
  return (mark.rlim_max | kHighest) == mark_of(0) ? static_cast<int>(mark_of(0) - mark.rlim_max) : 0;
}

Census take_census() {
  Census census;
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(opendir("/proc"), closedir);
  while (const dirent* entry = processes ? readdir(processes.get()) : nullptr) {
    const pid_t process = std::atoi(entry->d_name);
    if (const int session = process > 0 ? session_of_process(process) : 0) census[session].push_back(process);
  }
  return census;
}

std::vector<pid_t> LastCensus::processes_of(int session, std::chrono::milliseconds age) {
  if (std::chrono::steady_clock::now() - taken_ > age) {
    census_ = take_census();
    taken_ = std::chrono::steady_clock::now();
  }
  const auto found = census_.find(session);
  return found == census_.end() ? std::vector<pid_t>() : found->second;
}

}  // namespace agon::sandbox::launcher
