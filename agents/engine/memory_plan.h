// agents/engine/memory_plan.h - plans the memory of a model before it is loaded: weights, keys and values.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>

#include "agents/engine/key_value_cache.h"
#include "agents/engine/weights.h"
#include "agents/hub/checkpoint_tensors.h"
#include "agents/hub/model_config.h"

namespace agon::agents {

// Bytes that the weights of a checkpoint will take in the engine.
std::int64_t planned_weight_bytes(const CheckpointTensors& tensors, const ModelConfig& config, WeightKind kind);
// Bytes of memory of this machine, or the cgroup's limit if that is lower.
std::int64_t machine_memory();

struct MemoryWish {
  WeightKind weights = WeightKind::automatic;
  kernels::KeyType keys = kernels::KeyType::f32;
  std::int64_t limit = 0;  // bytes that weights, keys and values may take; 0: machine_memory()
  auto operator<=>(const MemoryWish&) const = default;
};

// Memory that a model takes, or will take once it is loaded.
struct ModelMemory {
  std::int64_t weight_bytes = 0;
  std::int64_t key_value_bytes = 0;  // limit
  std::int64_t page_bytes = 0;       // keys and values of kernels::kKeyBlock tokens
  std::int64_t tokens() const { return key_value_bytes / page_bytes * kernels::kKeyBlock; }
};
// "weights 269.1 MB, KV for 131072 tokens in 6039.8 MB".
std::string memory_text(const ModelMemory& memory);

// Keys and values get the memory that the weights leave. Without MemoryWish::limit, they get at most a quarter of the
// machine's memory.
struct MemoryPlan : ModelMemory {
  std::int64_t limit = 0;                                       // bytes
  std::array<std::int64_t, std::size(kWeightKinds)> by_kind{};  // weight_bytes for each WeightKind
  bool fits() const { return key_value_bytes >= page_bytes; }
};

MemoryPlan plan_memory(const CheckpointTensors& tensors, const ModelConfig& config, const MemoryWish& wish);
// The plan of a checkpoint (agents/hub/model_folder.h). Throws Error with the figures if it does not fit.
MemoryPlan require_memory(const std::filesystem::path& path, const ModelConfig& config, const MemoryWish& wish);

}  // namespace agon::agents
