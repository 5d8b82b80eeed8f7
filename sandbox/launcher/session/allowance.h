// sandbox/launcher/session/allowance.h - limits the resources that the kernel does not limit per session: kernel
// sessions (setsid), file locks, epoll watches.
#pragma once

#include <sys/types.h>

#include <set>

#include "sandbox/launcher/session/surroundings.h"

namespace agon::sandbox::launcher {

class Allowance {
 public:
  Allowance(int session, const Surroundings& surroundings) : session_(session), surroundings_(surroundings) {}
  void begin_call() { locks_of_call_ = 0; }
  bool may_lock();   // one more file lock in this call
  bool may_watch();  // one more epoll watch, among all that the session ever adds
  // Whether the process may start a kernel session (setsid) now: at most four at a time, including the
  // interpreter.
  bool may_lead(pid_t process);

 private:
  int session_;
  const Surroundings& surroundings_;   // outlive it
  int locks_ = 0, locks_of_call_ = 0;  // asked for, ever and in this call
  int watches_ = 0;                    // asked for since the session was made
  std::set<pid_t> leaders_;            // processes that may have started a kernel session
  Clock::time_point next_leader_;      // earliest time for one more
};

}  // namespace agon::sandbox::launcher
