// kernels/panel_product.h - the inner loop of vectorised matrix kernels (.cc files only): rows of a matrix times one
// panel of 32 columns. The sums stay in registers until they are complete. All functions are forced inline, so that a
// caller marked AGON_MULTIVERSION compiles them for its own instruction set.
#pragma once

#include <algorithm>

#include "kernels/vector.h"

namespace agon::kernels {

inline constexpr int kPanel = 2 * kLanes;  // columns

// y[r, n] = bias[n] + sum over k of x[r, k] * panel[k, n]; with `add`, y += that. Each output is one chain of
// multiply-adds over k = 0 .. depth - 1, whatever else is computed at the same time.
struct PanelProduct {
  const float* x = nullptr;  // x[r, k] is at r * x_stride + k * x_step
  std::int64_t x_stride = 0, x_step = 1;
  const float* panel = nullptr;  // [depth, 32]
  const float* bias = nullptr;   // [columns], or null
  float* y = nullptr;            // rows y_stride apart
  std::int64_t y_stride = 0;
  std::int64_t depth = 0;
  int columns = kPanel;  // of y, 1 .. 32
  bool add = false;
};

namespace panel_product_detail {

template <typename Vector>
AGON_INLINE void finish(const PanelProduct& at, Vector total, float* y, int first) {
  const int count = std::min(kLanesOf<Vector>, at.columns - first);
  if (count <= 0) return;
  if (at.bias) total += load<Vector>(at.bias + first, count);
  if (at.add) total += load<Vector>(y + first, count);
  store(y + first, total, count);
}

// `Rows` rows by `Vectors` vectors of columns from column `first` on.
template <typename Vector, int Rows, int Vectors>
AGON_INLINE void block(const PanelProduct& at, std::int64_t row, int first) {
  Vector total[Rows][Vectors] = {};
  const float* x = at.x + row * at.x_stride;
  const float* panel = at.panel + first;
  for (std::int64_t k = 0; k < at.depth; ++k, panel += kPanel, x += at.x_step) {
    Vector column[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) column[v] = load<Vector>(panel + v * kLanesOf<Vector>);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const float value = x[r * at.x_stride];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) total[r][v] += value * column[v];
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v)
      finish(at, total[r][v], at.y + (row + r) * at.y_stride, first + v * kLanesOf<Vector>);
}

template <typename Vector, int Rows, int Vectors>
AGON_INLINE void block_rows(const PanelProduct& at, std::int64_t row) {
  for (int first = 0; first < at.columns; first += Vectors * kLanesOf<Vector>)
    block<Vector, Rows, Vectors>(at, row, first);
}

template <typename Vector, int Rows, int Vectors>
AGON_INLINE void rows_of(const PanelProduct& at, std::int64_t begin, std::int64_t end) {
  std::int64_t row = begin;
  for (; row + Rows <= end; row += Rows) block_rows<Vector, Rows, Vectors>(at, row);
  if constexpr (Rows > 4)
    for (; row + 4 <= end; row += 4) block_rows<Vector, 4, Vectors>(at, row);
  for (; row + 2 <= end; row += 2) block_rows<Vector, 2, Vectors>(at, row);
  for (; row < end; ++row) block_rows<Vector, 1, Vectors>(at, row);
}

}  // namespace panel_product_detail

// Computes rows [begin, end), in blocks as large as the machine's registers allow.
AGON_INLINE void panel_product(const PanelProduct& at, std::int64_t begin, std::int64_t end) {
  if (has_wide_registers())
    panel_product_detail::rows_of<Floats, 8, 2>(at, begin, end);
  else
    panel_product_detail::rows_of<NarrowFloats, 6, kLanes / kLanesOf<NarrowFloats>>(at, begin, end);
}

}  // namespace agon::kernels
