#include "agents/learn/network/torch_info.h"

#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/headeronly/version.h>

namespace agon::agents {

TorchInfo torch_info() {
  TorchInfo info;
  info.version = TORCH_VERSION;
  info.cpu_capability = at::get_cpu_capability();
#ifdef AGON_CUDA
  info.cuda_compiled = true;
  info.cuda_devices = at::detail::getCUDAHooks().getNumGPUs();
#endif
  return info;
}

}  // namespace agon::agents
