// sandbox/launcher/isolation/seccomp_policy.h - the system calls that guest code may make.
#pragma once

#include <string>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {

// The allow-list as a BPF program, in the form that seccomp(2) takes. Calls that are not listed return EPERM, or
// ENOSYS, EINVAL or EAFNOSUPPORT if programs then use another way; calls of another architecture kill the process.
// setsid, file locks and new epoll watches go to a listener. A caller can change only its own limits and priorities.
// own_processes: whether sessions see only their own processes (a pid namespace). If true, setns goes to the listener
// too. If false, signals, Landlock and changes of file modes and times do, and other calls that reach a process by its
// number are refused.
std::string seccomp_program(bool own_processes);

// Installs the program on this thread permanently (no_new_privs must be set). Returns the listener's descriptor, which
// is the caller's to close.
int install_seccomp(const std::string& program);

}  // namespace agon::sandbox::launcher
