// agents/engine/adapter.h - a LoRA adapter as agon's kernels read it. It is never merged: the base's weights
// serve every adapter, and the rows of one batch may have different ones. Immutable after loading.
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

// What an adapter adds to a linear of the engine, y += scale * B (A x). Of a linear of several parts (queries, keys and
// values) the A's stand one below the other, and each part has its own B, which the scale is multiplied into.
struct LowRankLinear {
  struct Part {
    kernels::PackedLinear b;  // [outputs of the part, rank]
    int first_rank = 0, first_output = 0;
  };
  kernels::PackedLinear a;  // [all ranks, inputs]
  std::vector<Part> parts;  // none: nothing is added
};

// Of agents/engine/weights.h: BlockWeights, MergerWeights, VisionWeights.
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

// A backend with other kernels derives its own type from it, with its own matrices in place of these.
struct EngineAdapter {
  Hash128 id;  // equal for equal adapters; never zero, which stands for none
  std::vector<BlockAdapter> layers;
  VisionAdapter vision;
  bool adapts_vision = false;  // else a picture's embeddings are the base's
};
inline Hash128 id_of(const EngineAdapter* adapter) { return adapter ? adapter->id : Hash128(); }

struct PeftAdapter;
Hash128 adapter_id(const PeftAdapter& adapter);  // of its matrices and scale

// Rows [begin, end) of a batch, whose block has an adapter.
struct AdaptedRows {
  std::int64_t begin = 0, end = 0;
  const BlockAdapter* adapter = nullptr;
};

// x [rows, inputs], y [rows, y_stride]. The bits that are added to a row depend on that row alone.
void add_low_rank(const LowRankLinear& added, const float* x, std::int64_t rows, float* y, std::int64_t y_stride,
                  kernels::AlignedFloats& scratch, const kernels::ParallelFor& parallel);

// From a folder of PEFT's form. Throws Error as open_peft_adapter does.
std::shared_ptr<const EngineAdapter> load_engine_adapter(const std::filesystem::path& folder,
                                                         const ModelConfig& config);

}  // namespace agon::agents
