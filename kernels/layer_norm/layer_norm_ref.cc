#include <cmath>

#include "kernels/layer_norm/layer_norm.h"

namespace agon::kernels::reference {

void layer_norm(const float* x, const float* weight, const float* bias, float epsilon, std::int64_t rows, int width,
                float* y) {
  for (std::int64_t r = 0; r < rows; ++r, x += width, y += width) {
    double sum = 0, squares = 0;
    for (int i = 0; i < width; ++i) sum += x[i];
    const double mean = sum / width;
    for (int i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const double scale = 1.0 / std::sqrt(squares / width + static_cast<double>(epsilon));
    for (int i = 0; i < width; ++i) y[i] = static_cast<float>((x[i] - mean) * scale * weight[i] + bias[i]);
  }
}

}  // namespace agon::kernels::reference
