#include <bit>
#include <cstring>

#include "kernels/linear/bfloat/product/product.h"
#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {
namespace {

AGON_INLINE float widened(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

// One row of one panel.
AGON_MULTIVERSION void add_row(const std::uint16_t* panel, const std::uint16_t* x, std::int64_t pairs, float* total) {
  float sums[kBfloatPanel] = {};
  for (std::int64_t k = 0; k < pairs; ++k, panel += 2 * kBfloatPanel)
    for (int part = 0; part < 2; ++part) {
      const float value = widened(x[2 * k + part]);
      AGON_APART
      for (int n = 0; n < kBfloatPanel; ++n) sums[n] += widened(panel[2 * n + part]) * value;
    }
  for (int n = 0; n < kBfloatPanel; ++n) total[n] = sums[n];
}

}  // namespace

void bfloat_product_plain(const BfloatProduct& at, std::int64_t begin, std::int64_t end) {
  for (std::int64_t p = 0; p < at.panel_count; ++p)
    for (std::int64_t r = begin; r < end; ++r) {
      float totals[kBfloatPanel];
      add_row(at.panels + p * at.pairs * 2 * kBfloatPanel, at.x + r * at.pairs * 2, at.pairs, totals);
      for (int n = 0; n < kBfloatPanel && p * kBfloatPanel + n < at.columns; ++n) {
        const std::int64_t column = p * kBfloatPanel + n;
        float& y = at.y[r * at.y_stride + column];
        y = totals[n] + (at.bias ? at.bias[column] : 0) + (at.add ? y : 0);
      }
    }
}

void bfloat_interleave_plain(const BfloatRows& rows, std::uint16_t* panel) {
  constexpr std::int64_t kPairBytes = 2 * sizeof(std::uint16_t);
  for (std::int64_t k = 0; k < rows.pairs; ++k)
    for (std::int64_t n = 0; n < kBfloatPanel; ++n, panel += 2)
      if (n < rows.count)
        std::memcpy(panel, rows.first + n * rows.stride + k * kPairBytes, kPairBytes);
      else
        std::memset(panel, 0, kPairBytes);
}

}  // namespace agon::kernels
