// agents/engine/adapter.h - a LoRA adapter, packed for agon's kernels. It is never merged into the base: all adapters
// share the base's weights, and the rows of one batch may use different adapters. Immutable after loading.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "agents/hub/model_config.h"
#include "core/hash.h"
#include "kernels/aligned.h"
#include "kernels/linear/linear.h"
#include "kernels/parallel.h"

namespace agon::agents {

// The update that an adapter adds to a linear of the engine, y += scale * B (A x). If the linear has several parts
// (queries, keys and values), their A's are stacked row-wise and each part has its own B. B includes the scale.
struct LowRankLinear {
  struct Part {
    kernels::PackedLinear b;  // [outputs of the part, rank]
    int first_rank = 0, first_output = 0;
  };
  kernels::PackedLinear a;  // [all ranks, inputs]
  std::vector<Part> parts;  // empty: nothing is added
};

// The adapters of BlockWeights, MergerWeights and VisionWeights (agents/engine/weights.h).
struct BlockAdapter {
  LowRankLinear qkv, attention_out, gate_up, down;
};
struct MergerAdapter {
  LowRankLinear in, out;
};
struct VisionAdapter {
  std::vector<BlockAdapter> blocks;
  MergerAdapter merger;
  std::vector<MergerAdapter> deepstack;
};

// A whole adapter. A backend with other kernels derives a type of its own, with its own matrices instead of these.
struct EngineAdapter {
  Hash128 id;  // equal for equal adapters; never zero, which means no adapter
  std::vector<BlockAdapter> layers;
  VisionAdapter vision;
  bool adapts_vision = false;  // false: pictures have the base's embeddings
};
inline Hash128 id_of(const EngineAdapter* adapter) { return adapter ? adapter->id : Hash128(); }

struct PeftAdapter;
Hash128 adapter_id(const PeftAdapter& adapter);  // hash of its matrices and scale

// Rows [begin, end) of a batch to whose block an adapter applies.
struct AdaptedRows {
  std::int64_t begin = 0, end = 0;
  const BlockAdapter* adapter = nullptr;
};

// y += scale * B (A x), with x [rows, inputs] and y [rows, y_stride]. The bits added to a row depend on that row alone.
void add_low_rank(const LowRankLinear& added, const float* x, std::int64_t rows, float* y, std::int64_t y_stride,
                  kernels::AlignedFloats& scratch, const kernels::ParallelFor& parallel);

// Loads a folder in PEFT's format. Throws Error as open_peft_adapter does.
std::shared_ptr<const EngineAdapter> load_engine_adapter(const std::filesystem::path& folder,
                                                         const ModelConfig& config);

}  // namespace agon::agents
