// agents/engine/open_backend.h - opens a model on the device that a user names:
//
//   cpu              agon's kernels
//   torch:cpu        LibTorch on the CPU
//   cuda, cuda:1     LibTorch on a GPU
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "agents/engine/backend.h"
#include "agents/engine/engine_weights.h"

namespace agon::agents {

inline constexpr const char* kCpuDevice = "cpu";
bool names_device(std::string_view text);

struct BackendOptions {
  std::string device = kCpuDevice;
  WeightKind weights = WeightKind::automatic;
  std::int64_t cache_bytes = 0;  // limit of memory for keys and values; 0: a quarter of the machine's, or of the GPU's
};

// `folder` as for load_engine_weights. Throws Error for a device that is not named so or not there, and for weights
// that do not load or that the device does not take.
std::unique_ptr<ModelBackend> open_backend(const std::filesystem::path& folder, const ModelConfig& config,
                                           const BackendOptions& options);

// The same for a device of LibTorch; agents/learn/backend/torch_backend.cc defines it, and the program loads LibTorch
// for it (cli/learning/on_demand.cc). A program that has neither gets an Error.
std::unique_ptr<ModelBackend> open_torch_backend(const std::filesystem::path& folder, const ModelConfig& config,
                                                 const BackendOptions& options);

}  // namespace agon::agents
