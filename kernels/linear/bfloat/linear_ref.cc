#include <bit>

#include "kernels/linear/bfloat/linear.h"

namespace agon::kernels::reference {

void bfloat_linear(const BfloatLinear& weight, const BfloatInputs& x, float* y, std::int64_t y_stride, Store mode) {
  const auto* const values = reinterpret_cast<const std::uint16_t*>(x.values.data());
  std::vector<float> row(static_cast<std::size_t>(weight.inputs));
  for (int n = 0; n < weight.outputs; ++n) {
    decode_row(weight, n, row.data());
    for (std::int64_t r = 0; r < x.rows; ++r) {
      double total = weight.bias.empty() ? 0.0 : static_cast<double>(weight.bias[static_cast<std::size_t>(n)]);
      for (int k = 0; k < weight.inputs; ++k) {
        const auto bits = static_cast<std::uint32_t>(values[r * x.pairs * 2 + k]) << 16;
        total +=
            static_cast<double>(row[static_cast<std::size_t>(k)]) * static_cast<double>(std::bit_cast<float>(bits));
      }
      float& out = y[r * y_stride + n];
      out = static_cast<float>(mode == Store::add ? static_cast<double>(out) + total : total);
    }
  }
}

}  // namespace agon::kernels::reference
