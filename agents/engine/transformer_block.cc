#include "agents/engine/transformer_block.h"

#include "kernels/activation/activation.h"
#include "kernels/rms_norm/rms_norm.h"

namespace agon::agents {
namespace {

using kernels::Store;

float* room(kernels::AlignedFloats& buffer, std::int64_t rows, int columns) {
  buffer.require(static_cast<std::size_t>(rows * columns));
  return buffer.data();
}

}  // namespace

void run_block(const BlockWeights& weights, std::span<const AdaptedRows> adapted, float epsilon, float* x,
               std::int64_t rows, BlockScratch& scratch, const kernels::ParallelFor& parallel, const Attend& attend) {
  const auto run = [&](const TypedLinear& linear, LowRankLinear BlockAdapter::*added, const float* in, float* out,
                       Store mode) {
    run_linear(linear, in, rows, out, mode, scratch.linear, parallel);
    for (const AdaptedRows& some : adapted)
      add_low_rank(some.adapter->*added, in + some.begin * linear.inputs, some.end - some.begin,
                   out + some.begin * linear.outputs, linear.outputs, scratch.low_rank, parallel);
  };
  const int hidden = weights.qkv.inputs, qkv_size = weights.qkv.outputs, attended_size = weights.attention_out.inputs;
  float* normed = room(scratch.normed, rows, hidden);
  float* qkv = room(scratch.qkv, rows, qkv_size);
  float* attended = room(scratch.attended, rows, attended_size);
  kernels::rms_norm(x, weights.attention_norm.data(), epsilon, rows, hidden, hidden, normed);
  run(weights.qkv, &BlockAdapter::qkv, normed, qkv, Store::set);
  attend(qkv, attended);
  run(weights.attention_out, &BlockAdapter::attention_out, attended, x, Store::add);

  const int inner_size = weights.down.inputs;
  float* gate_up = room(scratch.gate_up, rows, 2 * inner_size);
  float* inner = room(scratch.inner, rows, inner_size);
  kernels::rms_norm(x, weights.mlp_norm.data(), epsilon, rows, hidden, hidden, normed);
  run(weights.gate_up, &BlockAdapter::gate_up, normed, gate_up, Store::set);
  kernels::run_parallel(parallel, rows, [&](std::int64_t begin, std::int64_t end) {
    kernels::swiglu(gate_up + begin * 2 * inner_size, end - begin, inner_size, inner + begin * inner_size);
  });
  run(weights.down, &BlockAdapter::down, inner, x, Store::add);
}

}  // namespace agon::agents
