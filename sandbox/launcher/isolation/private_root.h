// sandbox/launcher/isolation/private_root.h - the root file system that sessions see: the host's programs, read-only,
// and none of its data.
#pragma once

#include <string>
#include <vector>

namespace agon::sandbox::launcher {

inline constexpr const char* kHome = "/home/agent";  // each session's files, on a tmpfs of its own

// The paths of the host that sessions may read, if they exist: /usr, `readable` folders, a few files of /etc.
std::vector<std::string> program_folders(const std::vector<std::string>& readable);

// The devices that sessions have: null, full, random, urandom.
std::vector<std::string> device_files();

struct RootLink {
  std::string target, name;
};
// Links in a session's root: the host's links into /usr, and the session's folders under their usual names.
std::vector<RootLink> root_links();

// Replaces the root of this mount namespace: program_folders() read-only, device_files(), /proc of this pid namespace,
// and an empty kHome (with /workspace, /tmp and /dev/shm as links into it). Needs CAP_SYS_ADMIN over the namespace.
// Throws std::system_error saying which step failed.
void enter_private_root(const std::vector<std::string>& readable);

}  // namespace agon::sandbox::launcher
