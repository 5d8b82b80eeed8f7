// sandbox/launcher/session/usage_watch.h - keeps a session within its limits of memory and processes. It checks them
// regularly, by an errand if that takes long. With a cgroup, the kernel enforces these limits, and guest_session.cc
// reads what the kernel killed. guest_session.cc also enforces wall and CPU time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/descriptor.h"
#include "sandbox/launcher/isolation/cgroup.h"
#include "sandbox/launcher/session/session_end.h"
#include "sandbox/launcher/session/surroundings.h"
#include "sandbox/launcher/supervisor/errand.h"
#include "sandbox/launcher/supervisor/usage.h"
#include "sandbox/limits.h"

namespace agon::sandbox::launcher {

class UsageWatch {
 public:
  UsageWatch(int session, const Limits& limits, const Surroundings& surroundings)
      : session_(session), limits_(limits), surroundings_(surroundings) {}
  // Starts with an interpreter that runs nothing yet. reaper: as in Usage. cgroup: the one that enforces the limits, or
  // null; outlives this.
  void begin(pid_t interpreter, pid_t reaper, const SessionCgroup* cgroup);
  void begin_call();
  void look();
  void look_briefly();
  void on_orphan_reaped(double seconds) { usage_.on_reaped(seconds); }
  bool is_out() const { return looking_.is_out() || measuring_.is_out(); }  // an errand is running
  void stop();                                                              // ends the errands

  const Usage& usage() const { return usage_; }  // as of the last look
  std::int64_t interpreter_peak() { return usage_.interpreter_peak(); }
  double cpu() const { return cgroup_ ? cgroup_->cpu_seconds() : usage_.cpu(); }
  double cpu_since(double before);
  std::int64_t known_memory() const;           // bytes that the session certainly uses
  std::optional<SessionEnd> exceeded() const;  // the limit that is exceeded, except CPU time

 private:
  bool is_crowded() const;
  void take_look();
  void look_by_errand(const std::vector<pid_t>& processes);
  void measure();

  int session_;
  Limits limits_;
  const Surroundings& surroundings_;  // outlive it
  const SessionCgroup* cgroup_ = nullptr;
  pid_t interpreter_ = 0;
  Usage usage_;              // if no cgroup counts
  std::int64_t listed_ = 0;  // processes, at the last look
  int looks_by_errand_ = 0;  // remaining ones
  Errand looking_;           // reads the processes
  Descriptor reading_;       // the file that it writes
  Clock::time_point next_errand_look_;
  Errand measuring_;  // measures memory
};

}  // namespace agon::sandbox::launcher
