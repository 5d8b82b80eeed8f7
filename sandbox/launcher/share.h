// sandbox/launcher/share.h - a process's share of the processor, and how soon it gets it.
#pragma once

namespace agon::sandbox::launcher {

// Starts a session of the kernel's with this process. Where Linux shares the processor between those (sched(7),
// autogroup), nothing else that its user runs delays it then.
void take_own_share();
// Of this process and what it forks: runs soon after it wakes up, also beside processes that never sleep, and for a
// short while then (Linux 6.12 on: a slice of 0.1 ms; sched_setattr(2)).
void wake_soon();
// Of this process: none of the above; it has time.
void wake_late();

}  // namespace agon::sandbox::launcher
