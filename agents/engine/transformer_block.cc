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

// The inputs of the MLP's last linear, from what its first one gave: there or in scratch.inner.
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

void run_block(const BlockWeights& weights, float epsilon, float* x, std::int64_t rows, BlockScratch& scratch,
               const kernels::ParallelFor& parallel, const Attend& attend) {
  const int hidden = weights.qkv.inputs, qkv_size = weights.qkv.outputs, attended_size = weights.attention_out.inputs;
  float* normed = room(scratch.normed, rows, hidden);
  float* qkv = room(scratch.qkv, rows, qkv_size);
  float* attended = room(scratch.attended, rows, attended_size);
  run_norm(weights.attention_norm, epsilon, x, rows, normed);
  run_linear(weights.qkv, normed, rows, qkv, Store::set, scratch.linear, parallel);
  attend(qkv, attended);
  run_linear(weights.attention_out, attended, rows, x, Store::add, scratch.linear, parallel);

  float* gate_up = room(scratch.gate_up, rows, weights.gate_up.outputs);
  run_norm(weights.mlp_norm, epsilon, x, rows, normed);
  run_linear(weights.gate_up, normed, rows, gate_up, Store::set, scratch.linear, parallel);
  const float* inner = activate(weights, gate_up, rows, scratch, parallel);
  run_linear(weights.down, inner, rows, x, Store::add, scratch.linear, parallel);
}

}  // namespace agon::agents
