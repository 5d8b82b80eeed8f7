// sandbox/launcher/supervisor/share.h - a process's share of the processor, and how soon it gets it.
#pragma once

#include <chrono>

namespace agon::sandbox::launcher {

// Starts a kernel session (setsid) with this process. Where Linux shares the processor between sessions (sched(7),
// autogroup), nothing else that its user runs delays it then.
void take_own_share();
// For this process and its forks: they run soon after they wake up, even next to processes that never sleep, and for a
// short while then (Linux 6.12 on: a slice of 0.1 ms; sched_setattr(2)).
void wake_soon();
// For this process: it has time, and may wake up late (SCHED_BATCH).
void wake_late();
// Of this thread: CPU time, and time that it could have run but had to wait for a processor (0 where the kernel does
// not count that).
std::chrono::nanoseconds own_cpu_time();
std::chrono::nanoseconds own_waiting_time();

}  // namespace agon::sandbox::launcher
