// sandbox/launcher/supervisor/supervisor.h - the process that serves the host: it opens, forks, runs and closes
// sessions. It has one thread and one epoll loop. It is the first process of the outer pid namespace, so its end ends
// every session.
#pragma once

#include "core/descriptor.h"
#include "sandbox/launcher/isolation/isolation.h"
#include "sandbox/launcher/isolation/template.h"

namespace agon::sandbox::launcher {

// Requests and replies are CBOR maps in frames (docs/sandbox.md). Returns when the host has closed `control`; throws
// std::system_error when the template cannot be started.
void supervise(Descriptor control, Template made, const Walls& walls);

}  // namespace agon::sandbox::launcher
