#include "agents/engine/transformer_block.h"

#include "kernels/activation/activation.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/rms_norm/rms_norm.h"

namespace agon::agents {
namespace {

using kernels::Store;

float* room(kernels::AlignedFloats& buffer, std::int64_t rows, int columns) {
  buffer.require(static_cast<std::size_t>(rows * columns));
  return buffer.data();
}

// Applies the MLP's activation to the output of its first linear. Returns the result, in place or in scratch.inner.
const float* activate(const BlockWeights& weights, float* first, std::int64_t rows, BlockScratch& scratch,
                      const kernels::ParallelFor& parallel) {
  const int width = weights.down.inputs;
  if (weights.mlp != Mlp::swiglu) {
    kernels::run_parallel(parallel, rows, [&](std::int64_t begin, std::int64_t end) {
      const auto gelu = weights.mlp == Mlp::quick_gelu ? kernels::quick_gelu : kernels::tanh_gelu;
      gelu(first + begin * width, (end - begin) * width);
    });
    return first;
  }
  float* inner = room(scratch.inner, rows, width);
  kernels::run_parallel(parallel, rows, [&](std::int64_t begin, std::int64_t end) {
    kernels::swiglu(first + begin * 2 * width, end - begin, width, inner + begin * width);
  });
  return inner;
}

}  // namespace

void run_norm(const NormWeights& weights, float epsilon, const float* x, std::int64_t rows, float* y) {
  const auto width = static_cast<int>(weights.weight.size());
  if (weights.bias.empty())
    kernels::rms_norm(x, weights.weight.data(), epsilon, rows, width, width, y);
  else
    kernels::layer_norm(x, weights.weight.data(), weights.bias.data(), epsilon, rows, width, y);
}

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
  run_norm(weights.attention_norm, epsilon, x, rows, normed);
  run(weights.qkv, &BlockAdapter::qkv, normed, qkv, Store::set);
  attend(qkv, attended);
  run(weights.attention_out, &BlockAdapter::attention_out, attended, x, Store::add);

  float* gate_up = room(scratch.gate_up, rows, weights.gate_up.outputs);
  run_norm(weights.mlp_norm, epsilon, x, rows, normed);
  run(weights.gate_up, &BlockAdapter::gate_up, normed, gate_up, Store::set);
  const float* inner = activate(weights, gate_up, rows, scratch, parallel);
  run(weights.down, &BlockAdapter::down, inner, x, Store::add);
}

}  // namespace agon::agents
