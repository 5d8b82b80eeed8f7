// sandbox/launcher/isolation/seccomp_policy.h - the system calls that guest code may make.
#pragma once

#include <string>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {

// The allow-list as a BPF program, in the form that seccomp(2) takes. What is not listed answers EPERM (ENOSYS where
// programs know another way), calls of another architecture kill the process; setns and file locks go to a listener. A
// caller can change only its own limits and priorities. own_processes: whether sessions see no processes but their own
// (a pid namespace). Where they do not, signals go to the listener too, and other calls that reach a process by its
// number are refused.
std::string seccomp_program(bool own_processes);

// Puts the program on this thread for good (no_new_privs must be set). Returns the listener's
// descriptor, which is the caller's to close.
int install_seccomp(const std::string& program);

}  // namespace agon::sandbox::launcher
