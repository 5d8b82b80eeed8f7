// kernels/linear/linear.h - y = x W^T + b. Letters: R rows, K inputs, N outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/aligned.h"
#include "kernels/parallel.h"

namespace agon::kernels {

// W [N, K] as panels of 32 outputs, each [K, 32], the last one filled up with zeros. Immutable once packed.
struct PackedLinear {
  int inputs = 0, outputs = 0;
  AlignedFloats panels;
  std::vector<float> bias;  // [N], or empty
};
PackedLinear pack_linear(const float* weight, const float* bias, int outputs, int inputs);  // bias may be null
// row_of(n): the weights of output n [K], valid until the next call on that thread; for each n once, on several
// threads.
PackedLinear pack_linear(int outputs, int inputs, const float* bias,
                         const std::function<const float*(int output)>& row_of, const ParallelFor& parallel);

// The weights of one output: [K].
void decode_row(const PackedLinear& weight, int output, float* row);
std::size_t bytes_of(const PackedLinear& weight);

enum class Store { set, add };  // add: y += x W^T + b, a residual connection
// x [R, K] with rows x_stride apart, y [R, N] with rows y_stride apart; they must not overlap. Every output is one
// chain of multiply-adds over k = 0 .. K-1: its bits depend on its own row and column alone, not on R or on `parallel`.
void linear(const PackedLinear& weight, const float* x, std::int64_t rows, std::int64_t x_stride, float* y,
            std::int64_t y_stride, Store mode, const ParallelFor& parallel);

namespace reference {  // the same from W [N, K] itself, summed in double
void linear(const float* weight, const float* bias, int outputs, int inputs, const float* x, std::int64_t rows,
            std::int64_t x_stride, float* y, std::int64_t y_stride, Store mode);
}  // namespace reference

}  // namespace agon::kernels
