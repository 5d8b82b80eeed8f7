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
