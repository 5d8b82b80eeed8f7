// agents/learn/network/torch_info.h - version and devices of the LibTorch that agon uses for training and for the
// torch devices. This header includes no torch.
#pragma once

#include <string>

namespace agon::agents {

struct TorchInfo {
  std::string version;         // "2.11.0"
  std::string cpu_capability;  // the instruction set of its CPU kernels: "AVX512"
  bool cuda_compiled = false;  // agon was built with -DAGON_CUDA=ON
  int cuda_devices = 0;        // visible now
};
TorchInfo torch_info();

}  // namespace agon::agents
