// sandbox/launcher/seccomp_policy.h - the system calls that guest code may make.
#pragma once

#include <string>

#include "sandbox/launcher/descriptor.h"

namespace agon::sandbox::launcher {

// The allow-list as a BPF program, in the form that seccomp(2) and bwrap --seccomp take. What is not listed answers
// EPERM (ENOSYS where programs know another way), calls of another architecture kill. asks: setns and file locks are
// put to a listener; without one they are refused.
std::string seccomp_program(bool asks);

// Puts the program on this thread for good (no_new_privs must be set). Returns the listener when the program asks.
Descriptor install_seccomp(const std::string& program, bool asks);

}  // namespace agon::sandbox::launcher
