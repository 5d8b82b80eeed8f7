// kernels/linear/bfloat/product/product.h - the inner loop of bfloat_linear (for its .cc files only): rows times panels
// of 16 outputs, with one function per kind of processor.
#pragma once

#include <cstdint>

#include "kernels/linear/bfloat/linear.h"

namespace agon::kernels {

inline constexpr int kBfloatPanel = 16;  // outputs

struct BfloatProduct {
  const std::uint16_t* panels = nullptr;  // [panels, pairs, 16, 2]
  std::int64_t panel_count = 1;           // side by side in y
  std::int64_t pairs = 0;
  const std::uint16_t* next = nullptr;  // as many panels, which this thread will probably read next; or null
  const std::uint16_t* x = nullptr;     // [rows, pairs * 2]
  const float* bias = nullptr;          // [columns], or null
  float* y = nullptr;                   // rows y_stride apart
  std::int64_t y_stride = 0;
  int columns = kBfloatPanel;  // columns of y in all panels together
  bool add = false;
};

// Computes rows [begin, end).
using BfloatProductFunction = void (*)(const BfloatProduct& at, std::int64_t begin, std::int64_t end);
void bfloat_product_plain(const BfloatProduct& at, std::int64_t begin, std::int64_t end);
// Null if this build or this processor does not have the instructions.
BfloatProductFunction bfloat_product_avx512();  // VDPBF16PS
// AMX tiles (kernels/linear/bfloat/product/tiles.h). So far tested only with an emulation of the tiles, not on a
// processor that has them.
BfloatProductFunction bfloat_product_amx();
BfloatProductFunction bfloat_product_neon();   // FMLA in fp32: any aarch64
BfloatProductFunction bfloat_product_bfdot();  // BFDOT

// Rows of pairs, `stride` bytes apart. Rows `count` .. 15 count as zeros.
struct BfloatRows {
  const std::uint8_t* first = nullptr;
  std::int64_t stride = 0, count = 0, pairs = 0;
};
// Makes the panel of such rows: [16, pairs] -> [pairs, 16].
using BfloatInterleave = void (*)(const BfloatRows& rows, std::uint16_t* panel);
void bfloat_interleave_plain(const BfloatRows& rows, std::uint16_t* panel);
BfloatInterleave bfloat_interleave_avx512();  // null as above

// bfloat_linear() with the given product function.
void bfloat_linear_by(BfloatProductFunction product, const BfloatLinear& weight, const BfloatInputs& x, float* y,
                      std::int64_t y_stride, Store mode, const ParallelFor& parallel);

}  // namespace agon::kernels
