// sandbox/launcher/private_root.h - the file system that sessions see: programs read-only, nothing of the host's data.
#pragma once

#include <string>
#include <vector>

namespace agon::sandbox::launcher {

inline constexpr const char* kHome = "/home/agent";  // of every session; its files, on a tmpfs of its own

// Replaces the root of this mount namespace: /usr and `readable` folders read-only, a few files of /etc, five devices,
// /proc of this pid namespace, and an empty kHome (with /workspace, /tmp and /dev/shm as links into it). Needs
// CAP_SYS_ADMIN over the namespace. Throws std::system_error saying which step failed.
void enter_private_root(const std::vector<std::string>& readable);

}  // namespace agon::sandbox::launcher
