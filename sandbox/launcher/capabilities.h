// sandbox/launcher/capabilities.h - giving up capabilities.
#pragma once

namespace agon::sandbox::launcher {

// Empties every capability set of this thread. Throws std::system_error.
void drop_capabilities();

}  // namespace agon::sandbox::launcher
