#include "kernels/linear/bfloat/linear.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "kernels/linear/bfloat/product/product.h"
#include "kernels/multiversion.h"

namespace agon::kernels {
namespace {

constexpr std::int64_t kRowsPerTile = 64, kPanelsPerTile = 4;

std::int64_t pairs_of(int inputs) { return (inputs + 1) / 2; }
std::int64_t panels_of(int outputs) { return (outputs + kBfloatPanel - 1) / kBfloatPanel; }
std::uint16_t* values_at(AlignedFloats& floats) { return reinterpret_cast<std::uint16_t*>(floats.data()); }
const std::uint16_t* values_at(const AlignedFloats& floats) {
  return reinterpret_cast<const std::uint16_t*>(floats.data());
}

// A number that is none keeps a bit that says so.
AGON_MULTIVERSION void round_row(const float* x, std::int64_t count, std::uint16_t* rounded) {
  AGON_APART
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(x[i]);
    const std::uint32_t nearest = bits + 0x7fff + (bits >> 16 & 1);
    const bool is_none = (bits & 0x7fffffff) > 0x7f800000;
    rounded[i] = static_cast<std::uint16_t>((is_none ? bits | 0x400000 : nearest) >> 16);
  }
}

// The rows of one panel on their way into it.
class RowBlock {
 public:
  explicit RowBlock(std::int64_t pairs)
      : pairs_(pairs), stride_(2 * pairs + kLine), rows_(static_cast<std::size_t>(kBfloatPanel * stride_)) {}
  std::uint16_t* row(std::int64_t n) { return rows_.data() + n * stride_; }
  // panel [pairs, 16, 2]
  void interleave(std::uint16_t* panel) const {
    for (std::int64_t k = 0; k < pairs_; ++k)
      for (std::int64_t n = 0; n < kBfloatPanel; ++n)
        std::memcpy(panel + (k * kBfloatPanel + n) * 2, rows_.data() + n * stride_ + 2 * k, 2 * sizeof(std::uint16_t));
  }

 private:
  static constexpr std::int64_t kLine = 32;  // rows of a power of two would lie in the same lines of the cache
  std::int64_t pairs_, stride_;
  std::vector<std::uint16_t> rows_;  // zeros at first: the last of an odd number has no partner
};

// Tiles before VDPBF16PS: their bits differ, so one of them computes all (kernels/linear/bfloat/product/tiles.h).
BfloatProductFunction choose_product() {
  for (const BfloatProductFunction best :
       {bfloat_product_amx(), bfloat_product_avx512(), bfloat_product_bfdot(), bfloat_product_neon()})
    if (best) return best;
  return bfloat_product_plain;
}

}  // namespace

void round_to_bfloat(const float* x, std::int64_t count, std::uint16_t* rounded) { round_row(x, count, rounded); }

BfloatLinear pack_bfloat_linear(int outputs, int inputs, const float* bias,
                                const std::function<void(int output, std::uint16_t* row)>& read_row,
                                const ParallelFor& parallel) {
  BfloatLinear packed;
  packed.inputs = inputs;
  packed.outputs = outputs;
  const std::int64_t size = pairs_of(inputs) * 2 * kBfloatPanel;
  packed.panels.require(static_cast<std::size_t>(panels_of(outputs) * size) / 2);
  std::uint16_t* const panels = values_at(packed.panels);
  run_parallel(parallel, panels_of(outputs), [&](std::int64_t begin, std::int64_t end) {
    RowBlock rows(pairs_of(inputs));
    for (std::int64_t panel = begin; panel < end; ++panel) {
      const auto count = std::min<std::int64_t>(kBfloatPanel, outputs - panel * kBfloatPanel);
      for (std::int64_t n = 0; n < count; ++n) read_row(static_cast<int>(panel * kBfloatPanel + n), rows.row(n));
      for (std::int64_t n = count; n < kBfloatPanel; ++n) std::fill_n(rows.row(n), 2 * pairs_of(inputs), 0);
      rows.interleave(panels + panel * size);
    }
  });
  if (bias) packed.bias.assign(bias, bias + outputs);
  return packed;
}

void decode_row(const BfloatLinear& weight, int output, float* row) {
  const std::int64_t size = pairs_of(weight.inputs) * 2 * kBfloatPanel;
  const std::uint16_t* const column =
      values_at(weight.panels) + output / kBfloatPanel * size + output % kBfloatPanel * 2;
  for (std::int64_t k = 0; k < weight.inputs; ++k)
    row[k] = std::bit_cast<float>(static_cast<std::uint32_t>(column[k / 2 * 2 * kBfloatPanel + k % 2]) << 16);
}

std::size_t bytes_of(const BfloatLinear& weight) { return (weight.panels.size() + weight.bias.size()) * sizeof(float); }

void round_inputs(const float* x, std::int64_t rows, std::int64_t x_stride, int inputs, BfloatInputs& rounded,
                  const ParallelFor& parallel) {
  rounded.rows = rows;
  rounded.pairs = pairs_of(inputs);
  rounded.values.require(static_cast<std::size_t>(rows * rounded.pairs));
  std::uint16_t* const values = values_at(rounded.values);
  run_parallel(parallel, rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      std::uint16_t* const row = values + r * rounded.pairs * 2;
      if (inputs % 2 == 1) row[inputs] = 0;
      round_row(x + r * x_stride, inputs, row);
    }
  });
}

void bfloat_linear_by(BfloatProductFunction product, const BfloatLinear& weight, const BfloatInputs& x, float* y,
                      std::int64_t y_stride, Store mode, const ParallelFor& parallel) {
  assert(x.pairs == pairs_of(weight.inputs) && y_stride >= weight.outputs);
  const std::int64_t panels = panels_of(weight.outputs), groups = (panels + kPanelsPerTile - 1) / kPanelsPerTile;
  const std::int64_t tiles = (x.rows + kRowsPerTile - 1) / kRowsPerTile, size = x.pairs * 2 * kBfloatPanel;
  run_parallel(parallel, tiles * groups, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t panel = t % groups * kPanelsPerTile, row = t / groups * kRowsPerTile;
      const std::int64_t count = std::min(kPanelsPerTile, panels - panel), column = panel * kBfloatPanel;
      const BfloatProduct at{
          .panels = values_at(weight.panels) + panel * size,
          .panel_count = count,
          .pairs = x.pairs,
          .x = values_at(x.values),
          .bias = weight.bias.empty() ? nullptr : weight.bias.data() + column,
          .y = y + column,
          .y_stride = y_stride,
          .columns = static_cast<int>(std::min<std::int64_t>(count * kBfloatPanel, weight.outputs - column)),
          .add = mode == Store::add};
      product(at, row, std::min(x.rows, row + kRowsPerTile));
    }
  });
}

void bfloat_linear(const BfloatLinear& weight, const BfloatInputs& x, float* y, std::int64_t y_stride, Store mode,
                   const ParallelFor& parallel) {
  static const BfloatProductFunction kProduct = choose_product();
  bfloat_linear_by(kProduct, weight, x, y, y_stride, mode, parallel);
}

}  // namespace agon::kernels
