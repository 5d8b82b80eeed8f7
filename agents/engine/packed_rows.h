// agents/engine/packed_rows.h - packs tensors that have the same input (queries, keys and values; gate and up) into one
// linear of the engine, in the requested type.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/engine/weights.h"
#include "agents/hub/checkpoint_tensors.h"
#include "kernels/parallel.h"

namespace agon::agents {

struct LinearRows {
  const CheckpointTensor& weight;  // [outputs, inputs]; its type holds weights (type_of)
  int outputs = 0;
  std::vector<float> bias;  // [outputs], or empty; all tensors packed together have one, or none has
};

// Stacks the rows of all tensors. Neighbours of one type become one part, except rows that are used in place.
TypedLinear pack_rows(std::span<const LinearRows> rows, int inputs, WeightKind kind,
                      const kernels::ParallelFor& parallel);

// Bytes that a weight [outputs, inputs] takes when packed.
std::int64_t packed_bytes(const CheckpointTensor& weight, WeightKind kind);

}  // namespace agon::agents
