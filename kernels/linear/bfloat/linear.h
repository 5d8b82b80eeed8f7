// kernels/linear/bfloat/linear.h - linear layers in bfloat16: y = x W^T + b, with W and x in bfloat16 and sums in fp32.
// R: rows, K: inputs, N: outputs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/aligned.h"
#include "kernels/linear/linear.h"
#include "kernels/parallel.h"

namespace agon::kernels {

// Panels that one thread packs from the rows of a view while other threads compute with the view.
struct PendingPanels {
  AlignedFloats values;
  std::atomic<std::int64_t> made{0};  // number of complete panels, from the first one on
};

// W as panels of 16 outputs, each [K / 2, 16, 2], padded with zeros; or a view of rows [N, K] that somebody else owns.
// Both give the same bits. Immutable once made, except the pending panels of a view.
struct BfloatLinear {
  int inputs = 0, outputs = 0;
  AlignedFloats panels;                    // bfloat16; empty in a view
  const std::uint8_t* rows = nullptr;      // of a view: bfloat16, at any address
  std::shared_ptr<PendingPanels> pending;  // of a view
  std::vector<float> bias;                 // [N], or empty
};

// read_row(n, row) writes the bits of output n's weights [K] to row. It is called once per n, on several threads. bias
// [N] may be null.
BfloatLinear pack_bfloat_linear(int outputs, int inputs, const float* bias,
                                const std::function<void(int output, std::uint16_t* row)>& read_row,
                                const ParallelFor& parallel);
// A view of rows [N, K], which must outlive it. REQUIRES: inputs is even.
BfloatLinear view_bfloat_linear(int outputs, int inputs, const float* bias, const std::uint8_t* rows);
// Packs about `rows` more rows of a view into panels. Returns how many rows have panels now. Products that begin
// afterwards read the panels instead of these rows. One thread packs; others may compute with the view meanwhile.
int pack_view(const BfloatLinear& view, int rows);
// Whether this processor computes with a view about as fast as with panels.
bool views_bfloat_rows();
// Writes the weights of one output to row [K].
void decode_row(const BfloatLinear& weight, int output, float* row);
std::size_t bytes_of(const BfloatLinear& weight);

// Rounds to the nearest bfloat16, ties to even.
void round_to_bfloat(const float* x, std::int64_t count, std::uint16_t* rounded);

// Rows of x in bfloat16.
struct BfloatInputs {
  std::int64_t rows = 0, pairs = 0;
  AlignedFloats values;  // bfloat16 [R, pairs * 2]
};
void round_inputs(const float* x, std::int64_t rows, std::int64_t x_stride, int inputs, BfloatInputs& rounded,
                  const ParallelFor& parallel);

// As linear() (kernels/linear/linear.h): every output is one chain over k = 0 .. K - 1, so its bits depend only on its
// own row and column. Processors with bfloat16 products add two k at a time, processors with bfloat16 tiles 32.
void bfloat_linear(const BfloatLinear& weight, const BfloatInputs& x, float* y, std::int64_t y_stride, Store mode,
                   const ParallelFor& parallel);

namespace reference {  // the same, summed in double
void bfloat_linear(const BfloatLinear& weight, const BfloatInputs& x, float* y, std::int64_t y_stride, Store mode);
}  // namespace reference

}  // namespace agon::kernels
