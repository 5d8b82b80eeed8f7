#include "agents/engine/memory_plan.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "agents/engine/packed_rows.h"
#include "core/error.h"

namespace agon::agents {
namespace {

std::int64_t values_in(const CheckpointTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t side : tensor.view.shape) count *= side;
  return count;
}

// Whether the tensor is a linear or an embedding, whose type the WeightKind determines.
bool is_linear(const std::string& name, const CheckpointTensor& tensor) {
  return tensor.view.shape.size() == 2 && name.ends_with(".weight") && name != "visual.pos_embed.weight";
}

std::string megabytes(std::int64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) * 1e-6); }

// The types whose weights fit: "q8 (144.4 MB) or q4 (78.5 MB)".
std::string fitting_kinds(const MemoryPlan& plan) {
  std::vector<std::string> fitting;
  for (const WeightKind kind : {WeightKind::bf16, WeightKind::q8, WeightKind::q4}) {
    const std::int64_t bytes = plan.by_kind[static_cast<std::size_t>(kind)];
    if (bytes + plan.page_bytes <= plan.limit)
      fitting.push_back(fmt::format("{} ({})", name_of(kind), megabytes(bytes)));
  }
  return fmt::format("{}", fmt::join(fitting, " or "));
}

}  // namespace

std::string memory_text(const ModelMemory& memory) {
  return fmt::format("weights {}, KV for {} tokens in {}", megabytes(memory.weight_bytes), memory.tokens(),
                     megabytes(memory.key_value_bytes));
}

std::int64_t planned_weight_bytes(const CheckpointTensors& tensors, const ModelConfig& config, WeightKind kind) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors.by_name) {
    if (config.text.tie_word_embeddings && name == "lm_head.weight") continue;  // a copy of the embedding
    if (!type_of(tensor)) continue;                                             // loading refuses it
    const bool word = name == "lm_head.weight" || name == "model.embed_tokens.weight";
    const WeightKind own = word && kind == WeightKind::q4 ? WeightKind::q8 : kind;
    bytes += is_linear(name, tensor) ? packed_bytes(tensor, own)
                                     : static_cast<std::int64_t>(sizeof(float)) * values_in(tensor);
  }
  return bytes;
}

std::int64_t machine_memory() {
  std::int64_t bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::int64_t limit = 0;
    if (std::ifstream(file) >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

MemoryPlan plan_memory(const CheckpointTensors& tensors, const ModelConfig& config, const MemoryWish& wish) {
  MemoryPlan plan;
  plan.limit = wish.limit > 0 ? wish.limit : machine_memory();
  for (std::size_t kind = 0; kind < plan.by_kind.size(); ++kind)
    plan.by_kind[kind] = planned_weight_bytes(tensors, config, static_cast<WeightKind>(kind));
  plan.weight_bytes = plan.by_kind[static_cast<std::size_t>(wish.weights)];
  plan.page_bytes = PagePool::bytes_for(config.text, wish.keys);
  const std::int64_t left = std::max<std::int64_t>(0, plan.limit - plan.weight_bytes);
  plan.key_value_bytes = wish.limit > 0 ? left : std::min(left, plan.limit / 4);
  return plan;
}

MemoryPlan require_memory(const std::filesystem::path& path, const ModelConfig& config, const MemoryWish& wish) {
  const MemoryPlan plan = plan_memory(open_checkpoint_tensors(path, config), config, wish);
  if (plan.fits()) return plan;
  const std::string smaller = fitting_kinds(plan);
  throw Error("{}: it does not fit into {}: its weights take {} and keys and values {} for every {} tokens. {}.",
              path.string(), megabytes(plan.limit), megabytes(plan.weight_bytes), megabytes(plan.page_bytes),
              kernels::kKeyBlock,
              smaller.empty() ? "Choose a smaller model, or raise --memory" : "Choose --weights " + smaller);
}

}  // namespace agon::agents
