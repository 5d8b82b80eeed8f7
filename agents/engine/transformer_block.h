// agents/engine/transformer_block.h - the transformer block that the decoder and the vision tower share.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "agents/engine/adapter.h"
#include "agents/engine/weights.h"
#include "kernels/aligned.h"
#include "kernels/parallel.h"

namespace agon::agents {

struct BlockScratch {
  kernels::AlignedFloats normed, qkv, attended, gate_up, inner, low_rank;
  LinearScratch linear;
};
// Reads the queries, keys and values of all rows (and may rotate them in place) and writes the output of attention:
// qkv [rows, outputs of weights.qkv] -> attended [rows, inputs of weights.attention_out].
using Attend = std::function<void(float* qkv, float* attended)>;

// y = norm(x) for each row, which has the norm's width; y may be x.
void run_norm(const NormWeights& weights, float epsilon, const float* x, std::int64_t rows, float* y);
// x [rows, hidden] += attention(norm(x)), then x += mlp(norm(x)), in place. `adapted`: the rows that use an adapter.
void run_block(const BlockWeights& weights, std::span<const AdaptedRows> adapted, float epsilon, float* x,
               std::int64_t rows, BlockScratch& scratch, const kernels::ParallelFor& parallel, const Attend& attend);

}  // namespace agon::agents
