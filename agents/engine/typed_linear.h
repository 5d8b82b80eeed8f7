// agents/engine/typed_linear.h - a linear layer of the engine whose weights are fp32, bf16 or quantised codes.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "kernels/linear/bfloat/linear.h"
#include "kernels/linear/coded/linear.h"
#include "kernels/linear/linear.h"

namespace agon::agents {

using LinearPart = std::variant<kernels::PackedLinear, kernels::BfloatLinear, kernels::CodedLinear>;

// One or more parts with the same inputs and concatenated outputs; queries, keys and values may have three types.
struct TypedLinear {
  int inputs = 0, outputs = 0;
  std::vector<LinearPart> parts;
  void add(LinearPart part);
};

// The inputs of a call, converted to the types of its parts. One per thread.
struct LinearScratch {
  kernels::BfloatInputs bfloats;
  kernels::CodedInputs codes;
};

// y = x W^T + b, or y += x W^T + b, depending on `mode`, as in kernels::linear: the bits of an output depend on its own
// row and column alone.
void run_linear(const TypedLinear& weights, const float* x, std::int64_t rows, float* y, kernels::Store mode,
                LinearScratch& scratch, const kernels::ParallelFor& parallel);
// Decodes the weights of one output to the values that products use: [inputs].
void decode_row(const TypedLinear& weights, int output, float* row);
std::size_t bytes_of(const TypedLinear& weights);

}  // namespace agon::agents
