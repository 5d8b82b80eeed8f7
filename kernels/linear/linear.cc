#include "kernels/linear/linear.h"

#include <algorithm>
#include <cassert>

#include "kernels/multiversion.h"
#include "kernels/panel_product.h"

namespace agon::kernels {
namespace {

constexpr std::int64_t kRowsPerTile = 64;  // a tile's rows of x stay in the first-level cache

AGON_MULTIVERSION void run_tile(const PanelProduct& at, std::int64_t begin, std::int64_t end) {
  panel_product(at, begin, end);
}

}  // namespace

PackedLinear pack_linear(int outputs, int inputs, const float* bias,
                         const std::function<const float*(int output)>& row_of, const ParallelFor& parallel) {
  PackedLinear packed;
  packed.inputs = inputs;
  packed.outputs = outputs;
  const std::int64_t count = (outputs + kPanel - 1) / kPanel;
  packed.panels.require(static_cast<std::size_t>(count * inputs) * kPanel);
  float* const panels = packed.panels.data();
  run_parallel(parallel, count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin * kPanel; n < std::min<std::int64_t>(end * kPanel, outputs); ++n) {
      const float* const row = row_of(static_cast<int>(n));
      float* const column = panels + n / kPanel * inputs * kPanel + n % kPanel;
      for (std::int64_t k = 0; k < inputs; ++k) column[k * kPanel] = row[k];
    }
  });
  if (bias) packed.bias.assign(bias, bias + outputs);
  return packed;
}

PackedLinear pack_linear(const float* weight, const float* bias, int outputs, int inputs) {
  return pack_linear(outputs, inputs, bias, [&](int n) { return weight + static_cast<std::int64_t>(n) * inputs; }, {});
}

void decode_row(const PackedLinear& weight, int output, float* row) {
  const float* const column =
      weight.panels.data() + static_cast<std::int64_t>(output / kPanel) * weight.inputs * kPanel + output % kPanel;
  for (std::int64_t k = 0; k < weight.inputs; ++k) row[k] = column[k * kPanel];
}

std::size_t bytes_of(const PackedLinear& weight) { return (weight.panels.size() + weight.bias.size()) * sizeof(float); }

void linear(const PackedLinear& weight, const float* x, std::int64_t rows, std::int64_t x_stride, float* y,
            std::int64_t y_stride, Store mode, const ParallelFor& parallel) {
  assert(x_stride >= weight.inputs && y_stride >= weight.outputs);
  const std::int64_t panels = (weight.outputs + kPanel - 1) / kPanel;
  const std::int64_t row_tiles = (rows + kRowsPerTile - 1) / kRowsPerTile;
  run_parallel(parallel, row_tiles * panels, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t panel = t % panels, row = t / panels * kRowsPerTile, column = panel * kPanel;
      const PanelProduct at{.x = x,
                            .x_stride = x_stride,
                            .panel = weight.panels.data() + column * weight.inputs,
                            .bias = weight.bias.empty() ? nullptr : weight.bias.data() + column,
                            .y = y + column,
                            .y_stride = y_stride,
                            .depth = weight.inputs,
                            .columns = static_cast<int>(std::min<std::int64_t>(kPanel, weight.outputs - column)),
                            .add = mode == Store::add};
      run_tile(at, row, std::min(rows, row + kRowsPerTile));
    }
  });
}

}  // namespace agon::kernels
