// agents/engine/open_backend.h - opens a model on a device, which the user names as one of:
//
//   cpu              agon's kernels
//   torch:cpu        LibTorch on the CPU
//   cuda, cuda:1     LibTorch on a GPU
#pragma once

#include <compare>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agents/engine/backend.h"
#include "agents/engine/memory_plan.h"
#include "agents/hub/model_folder.h"

namespace agon::agents {

inline constexpr const char* kCpuDevice = "cpu";
bool names_device(std::string_view text);

struct BackendOptions {
  std::string device = kCpuDevice;
  // LibTorch stores keys and values in the type of the weights. Without a limit they may take a quarter of the
  // machine's memory, or half of the GPU's free memory.
  MemoryWish memory;
  auto operator<=>(const BackendOptions&) const = default;
};

// `folder` as for load_engine_weights. Throws Error for a device that is unknown or unavailable, for weights that do
// not load or that the device does not support, and, with the figures, for a model that does not fit into memory.
std::unique_ptr<ModelBackend> open_backend(const std::filesystem::path& folder, const ModelConfig& config,
                                           const BackendOptions& options);

struct OpenModel {
  ModelFolder folder;
  std::unique_ptr<ModelBackend> backend;
};
// Opens a whole model; its tokenizer is read while its weights are packed. Throws Error as open_backend and
// open_model_folder do.
OpenModel open_model(const std::filesystem::path& folder, const BackendOptions& options,
                     std::optional<Resampler> resampler = std::nullopt);

// open_backend for the devices of LibTorch. agents/learn/backend/torch_backend.cc defines it, and the program loads
// LibTorch for it (cli/learning/on_demand.cc). In a program that links neither, it throws Error.
std::unique_ptr<ModelBackend> open_torch_backend(const std::filesystem::path& folder, const ModelConfig& config,
                                                 const BackendOptions& options);

}  // namespace agon::agents
