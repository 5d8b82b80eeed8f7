// sandbox/launcher/session/entered_process.h - checks the process that becomes a session's interpreter before it runs
// anything, and sets its hard limits.
#pragma once

#include <sys/types.h>

#include <string>

#include "sandbox/launcher/session/init_process.h"
#include "sandbox/launcher/supervisor/processes.h"
#include "sandbox/limits.h"

namespace agon::sandbox::launcher {

bool is_in_namespaces(pid_t process, const InitProcess::Namespaces& namespaces);

// The restriction that the process lacks; empty if it has all of them.
std::string fault_of_confinement(const ProcessStatus& status);

// Sets hard limits that the guest cannot raise. GuestSession::watch() enforces memory and processes; these limits are
// the last line of defence behind it. in_namespaces: the process has a user namespace of its own. Throws
// std::system_error.
void set_rlimits(pid_t process, const ProcessStatus& status, const Limits& limits, bool in_namespaces);

}  // namespace agon::sandbox::launcher
