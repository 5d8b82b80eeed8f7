#include "sandbox/launcher/session/allowance.h"

#include <unistd.h>

#include <cstddef>

#include "sandbox/launcher/supervisor/census.h"
#include "sandbox/launcher/supervisor/processes.h"

namespace agon::sandbox::launcher {
namespace {

constexpr auto kLeaderPause = std::chrono::milliseconds(20);  // between two looks if there are too many
constexpr std::size_t kMostLeaders = 4;                       // kernel sessions, including the interpreter's
constexpr int kMostLocks = 100'000;      // locks that a call may request: the kernel keeps 200 bytes for each
constexpr int kMostLocksEver = 400'000;  // and all calls together
constexpr int kMostWatches = 1 << 16;    // epoll watches that a session may add

}  // namespace

bool Allowance::may_lock() { return ++locks_of_call_ <= kMostLocks && ++locks_ <= kMostLocksEver; }

bool Allowance::may_watch() { return ++watches_ <= kMostWatches; }

// A leader that has ended leaves its session to its children. A process that may become a leader need not be one yet.
bool Allowance::may_lead(pid_t process) {
  if (leaders_.contains(process)) return true;
  if (Clock::now() < next_leader_) return false;
  std::erase_if(leaders_, [&](pid_t leader) { return session_of_process(leader) != session_ || has_ended(leader); });
  std::set<pid_t> leaders = leaders_;
  for (const pid_t one : surroundings_.processes(session_, kFresh))
    if (const pid_t leader = has_ended(one) ? 0 : getsid(one); leader > 0) leaders.insert(leader);
  if (leaders.size() >= kMostLeaders) {
    next_leader_ = Clock::now() + kLeaderPause;
    return false;
  }
  leaders_.insert(process);
  return true;
}

}  // namespace agon::sandbox::launcher
