#include "sandbox/launcher/isolation/capabilities.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstdint>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {

void drop_capabilities() {
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; ++capability)
    if (prctl(PR_CAPBSET_DROP, capability) != 0 && errno == EPERM) break;
  const struct {
    std::uint32_t version;
    int process;
  } header{0x20080522, 0};           // version 3: two words a set
  const std::uint32_t sets[6] = {};  // effective, permitted, inheritable
  checked(syscall(SYS_capset, &header, sets), "capset");
}

}  // namespace agon::sandbox::launcher
