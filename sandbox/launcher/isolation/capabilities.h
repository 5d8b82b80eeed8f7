// sandbox/launcher/isolation/capabilities.h - giving up capabilities.
#pragma once

namespace agon::sandbox::launcher {

// Empties every capability set of this thread; the bounding set only where it may (it counts for nothing behind
// no_new_privs). Throws std::system_error.
void drop_capabilities();

}  // namespace agon::sandbox::launcher
