#include "kernels/linear/bfloat/product/tiles.h"

#include "kernels/multiversion.h"

namespace agon::kernels {
namespace {

AGON_MULTIVERSION void finish_rows(const BfloatProduct& at, std::int64_t row, int rows, std::int64_t first,
                                   const float* totals) {
  const std::int64_t columns = std::min<std::int64_t>(kBfloatPanel, at.columns - first);
  for (int r = 0; r < rows; ++r) {
    const float* const total = totals + r * kBfloatPanel;
    float* const y = at.y + (row + r) * at.y_stride + first;
    AGON_APART
    for (std::int64_t n = 0; n < columns; ++n)
      y[n] = total[n] + (at.bias ? at.bias[first + n] : 0) + (at.add ? y[n] : 0);
  }
}

}  // namespace

void finish_tile(const BfloatProduct& at, std::int64_t row, int rows, std::int64_t first, const float* totals) {
  finish_rows(at, row, rows, first, totals);
}

}  // namespace agon::kernels
