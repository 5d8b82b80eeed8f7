#include "agents/learn/network/torch_environment.h"

#include <cstdlib>

namespace agon::agents {

void set_torch_environment() {
  if (::getenv("GOMP_SPINCOUNT") == nullptr) ::setenv("OMP_WAIT_POLICY", kOpenMpWaitPolicy, 0);
  ::setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16", 0);
}

}  // namespace agon::agents
