// sandbox/launcher/isolation/landlock.h - restricts the files that this thread, and everything it starts, may access.
#pragma once

#include <string>
#include <vector>

namespace agon::sandbox::launcher {

// The kernel's Landlock version; 0 if it has no Landlock.
int landlock_version();

struct LandlockRules {
  std::vector<std::string> readable;  // read and execute, with everything beneath
  std::vector<std::string> devices;   // folders whose files may also be written
  std::vector<std::string> writable;  // everything except making device nodes
};

// Restricts permanently, in addition to earlier restrictions. Also forbids TCP, and signals and abstract sockets out of
// this domain, if the kernel supports that. Paths that do not exist are skipped. no_new_privs must be set. Throws
// std::system_error, also if the kernel has no Landlock.
void restrict_files(const LandlockRules& rules);

}  // namespace agon::sandbox::launcher
