// agents/engine/packed_rows.h - tensors of a checkpoint as one linear of the engine, in the type that is asked for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/engine/weights.h"
#include "agents/hub/checkpoint_tensors.h"
#include "kernels/parallel.h"

namespace agon::agents {

struct LinearRows {
  const CheckpointTensor& weight;  // [outputs, inputs], of weights
  int outputs = 0;
  std::vector<float> bias;  // [outputs], or empty; alike in all that are packed together
};

// One below the other; neighbours of one type become one part.
TypedLinear pack_rows(std::span<const LinearRows> rows, int inputs, WeightKind kind,
                      const kernels::ParallelFor& parallel);

// Bytes that a weight [outputs, inputs] takes so.
std::int64_t packed_bytes(const CheckpointTensor& weight, WeightKind kind);

}  // namespace agon::agents
