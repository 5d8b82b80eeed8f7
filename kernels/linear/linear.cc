#include "kernels/linear/linear.h"

#include <algorithm>
#include <cassert>

#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {
namespace {

constexpr int kPanel = 2 * kLanes;         // outputs
constexpr std::int64_t kRowsPerTile = 64;  // a tile's rows of x stay in the first-level cache

struct Operands {
  const float *x, *panel, *bias;  // x: row 0; bias: of the panel's first output, or null
  float* y;                       // row 0, the panel's first output
  std::int64_t x_stride, y_stride;
  int inputs, columns;  // columns: outputs of this panel, 1 .. 32
  Store mode;
};

AGON_INLINE void finish(const Operands& at, Floats total, float* y, int first) {
  const int count = std::min(kLanes, at.columns - first);
  if (count <= 0) return;
  if (at.bias) total += load(at.bias + first, count);
  if (at.mode == Store::add) total += load(y + first, count);
  store(y + first, total, count);
}

// `Rows` rows by `Vectors` * 16 outputs from column `first` on, held in registers over the whole sum.
template <int Rows, int Vectors>
AGON_INLINE void block(const Operands& at, std::int64_t row, int first) {
  Floats total[Rows][Vectors] = {};
  const float* x = at.x + row * at.x_stride;
  const float* weight = at.panel + first;
  for (int k = 0; k < at.inputs; ++k, weight += kPanel) {
    Floats column[Vectors];
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) column[v] = load(weight + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const float value = x[r * at.x_stride + k];
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) total[r][v] += value * column[v];
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v) finish(at, total[r][v], at.y + (row + r) * at.y_stride, first + v * kLanes);
}

template <int Rows, int Vectors>
AGON_INLINE void block_rows(const Operands& at, std::int64_t row) {
  for (int first = 0; first < at.columns; first += Vectors * kLanes) block<Rows, Vectors>(at, row, first);
}

template <int Rows, int Vectors>
AGON_INLINE void tile(const Operands& at, std::int64_t begin, std::int64_t end) {
  std::int64_t row = begin;
  for (; row + Rows <= end; row += Rows) block_rows<Rows, Vectors>(at, row);
  if constexpr (Rows > 4)
    for (; row + 4 <= end; row += 4) block_rows<4, Vectors>(at, row);
  for (; row + 2 <= end; row += 2) block_rows<2, Vectors>(at, row);
  for (; row < end; ++row) block_rows<1, Vectors>(at, row);
}

// Rows [begin, end) of one panel; the block is as large as the registers of the machine allow.
AGON_MULTIVERSION void run_tile(const Operands& at, std::int64_t begin, std::int64_t end) {
  static const bool wide = __builtin_cpu_supports("avx512f");
  if (wide)
    tile<8, 2>(at, begin, end);
  else
    tile<4, 1>(at, begin, end);
}

}  // namespace

PackedLinear pack_linear(const float* weight, const float* bias, int outputs, int inputs) {
  PackedLinear packed;
  packed.inputs = inputs;
  packed.outputs = outputs;
  const std::size_t count = static_cast<std::size_t>((outputs + kPanel - 1) / kPanel);
  packed.panels.require(count * static_cast<std::size_t>(inputs) * kPanel);
  float* panels = packed.panels.data();
  for (std::int64_t n = 0; n < outputs; ++n)
    for (std::int64_t k = 0; k < inputs; ++k)
      panels[((n / kPanel) * inputs + k) * kPanel + n % kPanel] = weight[n * inputs + k];
  if (bias) packed.bias.assign(bias, bias + outputs);
  return packed;
}

void linear(const PackedLinear& weight, const float* x, std::int64_t rows, std::int64_t x_stride, float* y,
            std::int64_t y_stride, Store mode, const ParallelFor& parallel) {
  assert(x_stride >= weight.inputs && y_stride >= weight.outputs);
  const std::int64_t panels = (weight.outputs + kPanel - 1) / kPanel;
  const std::int64_t row_tiles = (rows + kRowsPerTile - 1) / kRowsPerTile;
  run_parallel(parallel, row_tiles * panels, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t panel = t % panels, row = t / panels * kRowsPerTile, column = panel * kPanel;
      const Operands at{x,
                        weight.panels.data() + column * weight.inputs,
                        weight.bias.empty() ? nullptr : weight.bias.data() + column,
                        y + column,
                        x_stride,
                        y_stride,
                        weight.inputs,
                        static_cast<int>(std::min<std::int64_t>(kPanel, weight.outputs - column)),
                        mode};
      run_tile(at, row, std::min(rows, row + kRowsPerTile));
    }
  });
}

}  // namespace agon::kernels
