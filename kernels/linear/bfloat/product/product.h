// kernels/linear/bfloat/product/product.h - the inner product of bfloat_linear (its .cc files only), for the
// instructions of one kind of processor each: rows times panels of 16 outputs.
#pragma once

#include <cstdint>

#include "kernels/linear/bfloat/linear.h"

namespace agon::kernels {

inline constexpr int kBfloatPanel = 16;  // outputs

struct BfloatProduct {
  const std::uint16_t* panels = nullptr;  // [panels, pairs, 16, 2]
  std::int64_t panel_count = 1;           // of them, side by side in y
  std::int64_t pairs = 0;
  const std::uint16_t* x = nullptr;  // [rows, pairs * 2]
  const float* bias = nullptr;       // [columns], or null
  float* y = nullptr;                // rows y_stride apart
  std::int64_t y_stride = 0;
  int columns = kBfloatPanel;  // of y in all panels together
  bool add = false;
};

// Rows [begin, end).
using BfloatProductFunction = void (*)(const BfloatProduct& at, std::int64_t begin, std::int64_t end);
void bfloat_product_plain(const BfloatProduct& at, std::int64_t begin, std::int64_t end);
// Null where this was not compiled for, or runs on, such a processor.
BfloatProductFunction bfloat_product_avx512();  // VDPBF16PS
// By tiles (kernels/linear/bfloat/product/tiles.h). Only an emulation of the tiles was tested so far, no processor that
// has them.
BfloatProductFunction bfloat_product_amx();
BfloatProductFunction bfloat_product_neon();   // FMLA in fp32: any aarch64
BfloatProductFunction bfloat_product_bfdot();  // BFDOT

// Rows of pairs, `stride` bytes apart; the rows from `count` on, up to 16, are zeros.
struct BfloatRows {
  const std::uint8_t* first = nullptr;
  std::int64_t stride = 0, count = 0, pairs = 0;
};
// The panel of such rows: [16, pairs] -> [pairs, 16].
using BfloatInterleave = void (*)(const BfloatRows& rows, std::uint16_t* panel);
void bfloat_interleave_plain(const BfloatRows& rows, std::uint16_t* panel);
BfloatInterleave bfloat_interleave_avx512();  // null as above

// bfloat_linear() by one of them.
void bfloat_linear_by(BfloatProductFunction product, const BfloatLinear& weight, const BfloatInputs& x, float* y,
                      std::int64_t y_stride, Store mode, const ParallelFor& parallel);

}  // namespace agon::kernels
