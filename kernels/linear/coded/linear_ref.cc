#include "kernels/linear/coded/linear.h"

namespace agon::kernels::reference {

void coded_linear(const CodedLinear& weight, const CodedInputs& x, float* y, std::int64_t y_stride, Store mode) {
  const auto* const codes = reinterpret_cast<const std::int8_t*>(x.codes.data());
  std::vector<float> row(static_cast<std::size_t>(weight.inputs));
  for (int n = 0; n < weight.outputs; ++n) {
    decode_row(weight, n, row.data());
    for (std::int64_t r = 0; r < x.rows; ++r) {
      double total = weight.bias.empty() ? 0.0 : static_cast<double>(weight.bias[static_cast<std::size_t>(n)]);
      for (int k = 0; k < weight.inputs; ++k) {
        const std::int64_t block = r * x.blocks + k / 32;
        total += static_cast<double>(row[static_cast<std::size_t>(k)]) * codes[block * 32 + k % 32] *
                 static_cast<double>(x.scales[static_cast<std::size_t>(block)]);
      }
      float& out = y[r * y_stride + n];
      out = static_cast<float>(mode == Store::add ? static_cast<double>(out) + total : total);
    }
  }
}

}  // namespace agon::kernels::reference
