// sandbox/launcher/isolation/capabilities.h - drops the capabilities of a thread.
#pragma once

namespace agon::sandbox::launcher {

// Empties every capability set of this thread; the bounding set only if permitted (with no_new_privs it has no effect).
// Throws std::system_error.
void drop_capabilities();

}  // namespace agon::sandbox::launcher
