// sandbox/backend.h - the programs that can build a sandbox's outer isolation (docs/sandbox.md).
#pragma once

#include <string_view>

namespace agon::sandbox {

enum class Backend {
  native,  // agon's own
  bwrap,   // Debian's bubblewrap
  docker,  // an engine that runs on this machine
  podman,
};
std::string_view to_string(Backend backend);
Backend backend_from(std::string_view name);  // throws Error

}  // namespace agon::sandbox
