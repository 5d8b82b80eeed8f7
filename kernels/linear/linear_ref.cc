#include "kernels/linear/linear.h"

namespace agon::kernels::reference {

void linear(const float* weight, const float* bias, int outputs, int inputs, const float* x, std::int64_t rows,
            std::int64_t x_stride, float* y, std::int64_t y_stride, Store mode) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t n = 0; n < outputs; ++n) {
      double total = bias ? bias[n] : 0;
      for (std::int64_t k = 0; k < inputs; ++k)
        total += static_cast<double>(x[r * x_stride + k]) * weight[n * inputs + k];
      float& out = y[r * y_stride + n];
      out = static_cast<float>(mode == Store::add ? out + total : total);
    }
}

}  // namespace agon::kernels::reference
