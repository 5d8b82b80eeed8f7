#include "agents/engine/open_backend.h"

#include <algorithm>
#include <future>
#include <utility>

#include "agents/engine/cpu_backend.h"
#include "core/error.h"

namespace agon::agents {

bool names_device(std::string_view text) {
  constexpr std::string_view kGpu = "cuda:";
  if (text == kCpuDevice || text == "torch:cpu" || text == "cuda") return true;
  if (!text.starts_with(kGpu)) return false;
  const std::string_view number = text.substr(kGpu.size());
  return !number.empty() && number.size() <= 2 &&
         std::all_of(number.begin(), number.end(), [](char digit) { return digit >= '0' && digit <= '9'; });
}

// Weak: the definition that comes with LibTorch, linked or loaded on demand, replaces this one.
[[gnu::weak]] std::unique_ptr<ModelBackend> open_torch_backend(const std::filesystem::path&, const ModelConfig&,
                                                               const BackendOptions& options) {
  throw Error("policy: this program has no LibTorch, which the device '{}' needs. Use the device cpu.", options.device);
}

std::unique_ptr<ModelBackend> open_backend(const std::filesystem::path& folder, const ModelConfig& config,
                                           const BackendOptions& options) {
  if (!names_device(options.device))
    throw Error("policy: there is no device '{}'. Choose cpu, torch:cpu, cuda or cuda:N.", options.device);
  if (options.device != kCpuDevice) return open_torch_backend(folder, config, options);
  const MemoryPlan plan = require_memory(folder, config, options.memory);
  return std::make_unique<CpuBackend>(load_engine_weights(folder, config, options.memory.weights), config,
                                      plan.key_value_bytes, options.memory.keys);
}

OpenModel open_model(const std::filesystem::path& folder, const BackendOptions& options,
                     std::optional<Resampler> resampler) {
  const ModelConfig config = open_model_config(folder);
  auto parts = std::async(std::launch::async, [&] { return open_model_folder(folder, resampler); });
  auto backend = open_backend(folder, config, options);
  return {parts.get(), std::move(backend)};
}

}  // namespace agon::agents
