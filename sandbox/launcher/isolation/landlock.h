// sandbox/launcher/isolation/landlock.h - limits which files this thread and all that it starts may touch.
#pragma once

#include <string>
#include <vector>

namespace agon::sandbox::launcher {

// The kernel's Landlock version; 0 if it has no Landlock.
int landlock_version();

struct LandlockRules {
  std::vector<std::string> readable;  // read and execute, with all beneath
  std::vector<std::string> devices;   // folders whose files may also be written
  std::vector<std::string> writable;  // everything but making device nodes
};

// For good; narrows what held before. Also no TCP, and no signals or abstract sockets out of this domain, where the
// kernel knows how. Paths that do not exist are left out. no_new_privs must be set. Throws std::system_error, also
// where the kernel has no Landlock.
void restrict_files(const LandlockRules& rules);

}  // namespace agon::sandbox::launcher
