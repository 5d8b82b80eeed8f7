// sandbox/launcher/supervisor/census.h - finds the session that a process belongs to, however the process was started.
// The interpreter of a session gets a mark that every process inherits, over fork and exec, and that no guest can
// change: the hard limit RLIMIT_LOCKS. Kernels since 2.6 ignore it, and the filter forbids changing it
// (seccomp_policy.h).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <vector>

namespace agon::sandbox::launcher {

// Marks a process as one of session > 0; everything that it starts from now on is marked too. Throws std::system_error.
void mark_process(pid_t process, int session);

// The session that a process or thread is marked for; 0: no session of this supervisor. Also works for a process that
// has ended and has not been waited for.
int session_of_process(pid_t process);

// All marked processes that /proc shows, by session, including zombies.
using Census = std::map<int, std::vector<pid_t>>;
Census take_census();

// Keeps the last census, so that one look at all processes serves all sessions that ask at about the same time.
class LastCensus {
 public:
  // The processes of a session, from a census at most `age` old.
  std::vector<pid_t> processes_of(int session, std::chrono::milliseconds age);
  const Census& sessions() const { return census_; }

 private:
  Census census_;
  std::chrono::steady_clock::time_point taken_;
};

}  // namespace agon::sandbox::launcher
