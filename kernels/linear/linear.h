// kernels/linear/linear.h - linear layers with fp32 weights: y = x W^T + b. R: rows, K: inputs, N: outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/aligned.h"
#include "kernels/parallel.h"

namespace agon::kernels {

// W [N, K] as panels of 32 outputs, each [K, 32], the last one padded with zeros. Immutable once packed.
struct PackedLinear {
  int inputs = 0, outputs = 0;
  AlignedFloats panels;
  std::vector<float> bias;  // [N], or empty
};
PackedLinear pack_linear(const float* weight, const float* bias, int outputs, int inputs);  // bias may be null
// row_of(n) returns the weights [K] of output n, valid until the next call on that thread. It is called once per n, on
// several threads.
PackedLinear pack_linear(int outputs, int inputs, const float* bias,
                         const std::function<const float*(int output)>& row_of, const ParallelFor& parallel);

// Writes the weights of one output to row [K].
void decode_row(const PackedLinear& weight, int output, float* row);
std::size_t bytes_of(const PackedLinear& weight);

enum class Store { set, add };  // add: y += x W^T + b, a residual connection
// x [R, K] with rows x_stride apart, y [R, N] with rows y_stride apart; they must not overlap. Every output is one
// chain of multiply-adds over k = 0 .. K-1, so its bits depend only on its own row and column, not on R or `parallel`.
void linear(const PackedLinear& weight, const float* x, std::int64_t rows, std::int64_t x_stride, float* y,
            std::int64_t y_stride, Store mode, const ParallelFor& parallel);

namespace reference {  // the same from W [N, K] itself, summed in double
void linear(const float* weight, const float* bias, int outputs, int inputs, const float* x, std::int64_t rows,
            std::int64_t x_stride, float* y, std::int64_t y_stride, Store mode);
}  // namespace reference

}  // namespace agon::kernels
