// kernels/linear/coded/linear.h - linear layers with quantised weights: y = x W^T + b, with W stored as codes of a few
// bits and a scale for every 16 or 32 codes. R: rows, K: inputs, N: outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/aligned.h"
#include "kernels/linear/linear.h"
#include "kernels/parallel.h"

namespace agon::kernels {

// A weight is scale * (code - middle) + offset, code in [0, 2^bits). `group` neighbouring inputs of one output share
// scale and offset, which are kept in half precision. Only formats without a middle have offsets.
struct CodeFormat {
  int bits = 8;    // 4, 5, 6 or 8
  int group = 32;  // 16 or 32
  int middle = 128;
  bool has_offsets = false;
  bool operator==(const CodeFormat&) const = default;
};

// W as panels of 16 outputs. K is padded to a multiple of 32; the padding counts as 0. Immutable once packed.
struct CodedLinear {
  CodeFormat format;
  int inputs = 0, outputs = 0;
  AlignedFloats panels;     // bytes, as kernels/linear/coded/product/product.h lays them out
  std::vector<float> bias;  // [N], or empty
};

// The weights of one output. codes [K]; scales and offsets [ceil(K / group)]; offsets: null if the format has none.
struct CodedRow {
  const std::uint8_t* codes = nullptr;
  const float* scales = nullptr;
  const float* offsets = nullptr;
};
// row_of(n) is called once per n, on several threads; what it points to stays valid until the next call on that thread.
// bias [N] may be null.
CodedLinear pack_coded_linear(const CodeFormat& format, int outputs, int inputs, const float* bias,
                              const std::function<CodedRow(int output)>& row_of, const ParallelFor& parallel);
// Writes the weights of one output, as products use them, to row [K].
void decode_row(const CodedLinear& weight, int output, float* row);
std::size_t bytes_of(const CodedLinear& weight);
std::int64_t coded_bytes(const CodeFormat& format, std::int64_t outputs, std::int64_t inputs);  // of the panels

// Rows of x as 8-bit codes. Every 32 inputs have a scale, their largest magnitude / 127, and sums of their codes.
struct CodedInputs {
  std::int64_t rows = 0, blocks = 0;  // blocks of 32
  AlignedFloats codes;                // int8 [R, blocks * 32]
  std::vector<float> scales;          // [R, blocks]
  std::vector<std::int32_t> sums;     // [R, blocks * 2], of 16 codes each
};
void code_inputs(const float* x, std::int64_t rows, std::int64_t x_stride, int inputs, CodedInputs& coded,
                 const ParallelFor& parallel);

// As linear() (kernels/linear/linear.h), with x as codes. Every output is one chain over the groups of its row, and
// sums within a group are exact (integers). So its bits depend only on its own row and column.
void coded_linear(const CodedLinear& weight, const CodedInputs& x, float* y, std::int64_t y_stride, Store mode,
                  const ParallelFor& parallel);

namespace reference {  // the same, summed in double
void coded_linear(const CodedLinear& weight, const CodedInputs& x, float* y, std::int64_t y_stride, Store mode);
}  // namespace reference

}  // namespace agon::kernels
