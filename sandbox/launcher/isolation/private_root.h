// sandbox/launcher/isolation/private_root.h - the file system that sessions see: programs read-only, nothing of the
// host's data.
#pragma once

#include <string>
#include <vector>

namespace agon::sandbox::launcher {

inline constexpr const char* kHome = "/home/agent";  // of every session; its files, on a tmpfs of its own

// What sessions may read of the host, as far as it is there: /usr, `readable` folders, a few files of /etc.
std::vector<std::string> program_folders(const std::vector<std::string>& readable);

// The devices that sessions have: null, zero, full, random, urandom.
std::vector<std::string> device_files();

struct RootLink {
  std::string target, name;
};
// Links in a session's root: the host's links into /usr, and the session's folders under their usual names.
std::vector<RootLink> root_links();

// Replaces the root of this mount namespace: program_folders() read-only, device_files(),
// /proc of this pid namespace, and an empty kHome (with /workspace, /tmp and /dev/shm as links into it). Needs
// CAP_SYS_ADMIN over the namespace. Throws std::system_error saying which step failed.
void enter_private_root(const std::vector<std::string>& readable);

}  // namespace agon::sandbox::launcher
