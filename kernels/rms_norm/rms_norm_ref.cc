#include <cmath>

#include "kernels/rms_norm/rms_norm.h"

namespace agon::kernels::reference {

void rms_norm(const float* x, const float* weight, float epsilon, std::int64_t rows, int width, std::int64_t stride,
              float* y) {
  for (std::int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int i = 0; i < width; ++i) squares += static_cast<double>(x[r * stride + i]) * x[r * stride + i];
    const double scale = 1.0 / std::sqrt(squares / width + static_cast<double>(epsilon));
    for (int i = 0; i < width; ++i) y[r * stride + i] = static_cast<float>(x[r * stride + i] * scale * weight[i]);
  }
}

}  // namespace agon::kernels::reference
