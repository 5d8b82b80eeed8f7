// sandbox/backend.h - which program makes a sandbox's outer walls (docs/sandbox.md).
#pragma once

#include <string_view>

namespace agon::sandbox {

enum class Backend {
  native,  // ours
  bwrap,   // Debian's bubblewrap
  docker,  // an engine that answers on this machine
  podman,
};
std::string_view to_string(Backend backend);
Backend backend_from(std::string_view name);  // throws Error

}  // namespace agon::sandbox
