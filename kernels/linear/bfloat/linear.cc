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
constexpr std::int64_t kValueBytes = sizeof(std::uint16_t);

std::int64_t pairs_of(int inputs) { return (inputs + 1) / 2; }
std::int64_t panels_of(int outputs) { return (outputs + kBfloatPanel - 1) / kBfloatPanel; }
std::int64_t panel_size(int inputs) { return pairs_of(inputs) * 2 * kBfloatPanel; }  // values
void require_panels(AlignedFloats& panels, int outputs, int inputs) {
  panels.require(static_cast<std::size_t>(panels_of(outputs) * panel_size(inputs)) / 2);
}
std::uint16_t* values_at(AlignedFloats& floats) { return reinterpret_cast<std::uint16_t*>(floats.data()); }
const std::uint16_t* values_at(const AlignedFloats& floats) {
  return reinterpret_cast<const std::uint16_t*>(floats.data());
}

// NaN stays NaN: its quiet bit is set.
AGON_MULTIVERSION void round_row(const float* x, std::int64_t count, std::uint16_t* rounded) {
  AGON_APART
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(x[i]);
    const std::uint32_t nearest = bits + 0x7fff + (bits >> 16 & 1);
    const bool is_none = (bits & 0x7fffffff) > 0x7f800000;
    rounded[i] = static_cast<std::uint16_t>((is_none ? bits | 0x400000 : nearest) >> 16);
  }
}

void interleave(const BfloatRows& rows, std::uint16_t* panel) {
  static const BfloatInterleave kBest =
      bfloat_interleave_avx512() ? bfloat_interleave_avx512() : bfloat_interleave_plain;
  kBest(rows, panel);
}

// Buffer for the rows of one panel before they are interleaved.
class RowBlock {
 public:
  explicit RowBlock(std::int64_t pairs)
      : pairs_(pairs), stride_(2 * pairs + kLine), rows_(static_cast<std::size_t>(kBfloatPanel * stride_)) {}
  std::uint16_t* row(std::int64_t n) { return rows_.data() + n * stride_; }
  BfloatRows first(std::int64_t count) const {
    return {reinterpret_cast<const std::uint8_t*>(rows_.data()), stride_ * kValueBytes, count, pairs_};
  }

 private:
  static constexpr std::int64_t kLine = 32;  // keeps rows whose size is a power of two off the same cache lines
  std::int64_t pairs_, stride_;
  std::vector<std::uint16_t> rows_;  // zeros at first: with an odd number of inputs, the last has no partner
};

// The rows of one panel of a view.
BfloatRows rows_of(const BfloatLinear& view, std::int64_t panel) {
  const std::int64_t row = panel * kBfloatPanel, stride = view.inputs * kValueBytes;
  return {view.rows + row * stride, stride, std::min<std::int64_t>(kBfloatPanel, view.outputs - row),
          pairs_of(view.inputs)};
}

// The panels that are ready, from the first one on. A view may have only some of its panels.
struct PackedPanels {
  const std::uint16_t* values = nullptr;
  std::int64_t count = 0;
};
PackedPanels packed_panels(const BfloatLinear& weight) {
  if (!weight.rows) return {values_at(weight.panels), panels_of(weight.outputs)};
  const std::int64_t made = weight.pending->made.load(std::memory_order_acquire);
  return made > 0 ? PackedPanels{values_at(weight.pending->values), made} : PackedPanels{};
}

// Reads the panels of a linear layer, a few at a time. Panels that are not packed are made from the rows of the view.
class PanelReader {
 public:
  explicit PanelReader(const BfloatLinear& weight)
      : weight_(weight), size_(panel_size(weight.inputs)), packed_(packed_panels(weight)) {}

  // Panels stay in the processor's second cache with those that are fetched ahead of their use. Panels made here are
  // used for more rows of inputs.
  std::int64_t panels_together() const {
    return std::clamp<std::int64_t>((is_packed() ? kFetched : kMade) / size_, 1, kPanelsPerTile);
  }
  std::int64_t rows_together() const { return is_packed() ? kRowsPerTile : 2 * kRowsPerTile; }
  // Null if they are not packed.
  const std::uint16_t* packed(std::int64_t panel, std::int64_t count) const {
    return panel + count <= packed_.count ? packed_.values + panel * size_ : nullptr;
  }
  // Valid until the next call on this thread.
  const std::uint16_t* read(std::int64_t panel, std::int64_t count) const {
    if (const std::uint16_t* const values = packed(panel, count)) return values;
    thread_local AlignedFloats made;
    made.require(static_cast<std::size_t>(count * size_) / 2);
    for (std::int64_t p = 0; p < count; ++p) make(panel + p, values_at(made) + p * size_);
    return values_at(made);
  }

 private:
  static constexpr std::int64_t kMade = 128 << 10, kFetched = 224 << 10;  // values
  void make(std::int64_t panel, std::uint16_t* values) const {
    if (panel < packed_.count)
      std::copy_n(packed_.values + panel * size_, size_, values);
    else
      interleave(rows_of(weight_, panel), values);
  }
  bool is_packed() const { return packed_.count == panels_of(weight_.outputs); }

  const BfloatLinear& weight_;
  const std::int64_t size_;  // values of a panel
  const PackedPanels packed_;
};

// Prefers tiles to VDPBF16PS. Their bits differ, so one of them computes everything
// (kernels/linear/bfloat/product/tiles.h).
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
  require_panels(packed.panels, outputs, inputs);
  std::uint16_t* const panels = values_at(packed.panels);
  run_parallel(parallel, panels_of(outputs), [&](std::int64_t begin, std::int64_t end) {
    RowBlock rows(pairs_of(inputs));
    for (std::int64_t panel = begin; panel < end; ++panel) {
      const auto count = std::min<std::int64_t>(kBfloatPanel, outputs - panel * kBfloatPanel);
      for (std::int64_t n = 0; n < count; ++n) read_row(static_cast<int>(panel * kBfloatPanel + n), rows.row(n));
      interleave(rows.first(count), panels + panel * panel_size(inputs));
    }
  });
  if (bias) packed.bias.assign(bias, bias + outputs);
  return packed;
}

BfloatLinear view_bfloat_linear(int outputs, int inputs, const float* bias, const std::uint8_t* rows) {
  assert(inputs % 2 == 0);
  BfloatLinear view;
  view.inputs = inputs;
  view.outputs = outputs;
  view.rows = rows;
  view.pending = std::make_shared<PendingPanels>();
  if (bias) view.bias.assign(bias, bias + outputs);
  return view;
}

int pack_view(const BfloatLinear& view, int rows) {
  PendingPanels& pending = *view.pending;
  if (pending.made == 0) require_panels(pending.values, view.outputs, view.inputs);
  const std::int64_t end = std::min<std::int64_t>(pending.made + panels_of(rows), panels_of(view.outputs));
  for (std::int64_t panel = pending.made; panel < end; ++panel)
    interleave(rows_of(view, panel), values_at(pending.values) + panel * panel_size(view.inputs));
  pending.made.store(end, std::memory_order_release);
  return static_cast<int>(std::min<std::int64_t>(end * kBfloatPanel, view.outputs));
}

bool views_bfloat_rows() { return bfloat_interleave_avx512() != nullptr; }

namespace {

float value_of(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

void decode_row_of_view(const BfloatLinear& view, int output, float* row) {
  const std::uint8_t* const from = view.rows + std::int64_t{output} * view.inputs * kValueBytes;
  for (std::int64_t k = 0; k < view.inputs; ++k) {
    std::uint16_t bits;
    std::memcpy(&bits, from + k * kValueBytes, sizeof bits);
    row[k] = value_of(bits);
  }
}

}  // namespace

void decode_row(const BfloatLinear& weight, int output, float* row) {
  const PackedPanels packed = packed_panels(weight);
  const std::int64_t panel = output / kBfloatPanel;
  if (panel >= packed.count) return decode_row_of_view(weight, output, row);
  const std::uint16_t* const column = packed.values + panel * panel_size(weight.inputs) + output % kBfloatPanel * 2;
  for (std::int64_t k = 0; k < weight.inputs; ++k) row[k] = value_of(column[k / 2 * 2 * kBfloatPanel + k % 2]);
}

std::size_t bytes_of(const BfloatLinear& weight) {
  const std::size_t rows =
      weight.rows ? static_cast<std::size_t>(std::int64_t{weight.outputs} * weight.inputs * kValueBytes) : 0;
  return (weight.panels.size() + weight.bias.size()) * sizeof(float) + rows;
}

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
  const PanelReader reader(weight);
  const std::int64_t panels = panels_of(weight.outputs), together = reader.panels_together();
  const std::int64_t groups = (panels + together - 1) / together, rows = reader.rows_together();
  const std::int64_t tiles = (x.rows + rows - 1) / rows;
  run_parallel(parallel, tiles * groups, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t panel = t % groups * together, row = t / groups * rows;
      const std::int64_t count = std::min(together, panels - panel), column = panel * kBfloatPanel;
      const BfloatProduct at{
          .panels = reader.read(panel, count),
          .panel_count = count,
          .pairs = x.pairs,
          .next = t + 1 < end ? reader.packed((t + 1) % groups * together, together) : nullptr,
          .x = values_at(x.values),
          .bias = weight.bias.empty() ? nullptr : weight.bias.data() + column,
          .y = y + column,
          .y_stride = y_stride,
          .columns = static_cast<int>(std::min<std::int64_t>(count * kBfloatPanel, weight.outputs - column)),
          .add = mode == Store::add};
      product(at, row, std::min(x.rows, row + rows));
    }
  });
}

void bfloat_linear(const BfloatLinear& weight, const BfloatInputs& x, float* y, std::int64_t y_stride, Store mode,
                   const ParallelFor& parallel) {
  static const BfloatProductFunction kProduct = choose_product();
  bfloat_linear_by(kProduct, weight, x, y, y_stride, mode, parallel);
}

}  // namespace agon::kernels
