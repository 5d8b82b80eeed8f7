// sandbox/launcher/supervisor/census.h - which process belongs to which session, however it came about. The interpreter
// of a session gets a mark that every process inherits, over fork and exec, and that no guest can change: the hard
// limit RLIMIT_LOCKS, which kernels since 2.6 ignore and the filter keeps (seccomp_policy.h).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <vector>

namespace agon::sandbox::launcher {

// Marks a process of ours as a session's; what it starts from now on is marked too. session > 0. Throws
// std::system_error.
void mark_process(pid_t process, int session);

// The session that a process or thread is marked for; 0: none of this supervisor's. Also of a process that has ended
// and has not been waited for.
int session_of_process(pid_t process);

// All marked processes that /proc shows, by session, those that have ended and wait for their parents included.
using Census = std::map<int, std::vector<pid_t>>;
Census take_census();

// The last one that was taken. One look at all processes serves all sessions that ask about the same time.
class LastCensus {
 public:
  // Of a session, as they were so long ago at most.
  std::vector<pid_t> processes_of(int session, std::chrono::milliseconds age);
  const Census& sessions() const { return census_; }

 private:
  Census census_;
  std::chrono::steady_clock::time_point taken_;
};

}  // namespace agon::sandbox::launcher
