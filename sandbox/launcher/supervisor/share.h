// sandbox/launcher/supervisor/share.h - sets a process's share of the processor and how soon it is scheduled.
#pragma once

#include <chrono>

namespace agon::sandbox::launcher {

// Starts a kernel session (setsid) with this process. If Linux shares the processor between kernel sessions (sched(7),
// autogroup), nothing else that its user runs delays it then.
void take_own_share();
// Makes this process and its forks run soon after they wake up, even next to processes that never sleep, but only for a
// short time (Linux 6.12 and later: a slice of 0.1 ms; sched_setattr(2)).
void wake_soon();
// Marks this process as not urgent: it may wake up late (SCHED_BATCH).
void wake_late();
// CPU time of this thread, and the time in which it could have run but waited for a processor (0 if the kernel does not
// count that).
std::chrono::nanoseconds own_cpu_time();
std::chrono::nanoseconds own_waiting_time();

}  // namespace agon::sandbox::launcher
