#include <cmath>
#include <numbers>

#include "kernels/activation/activation.h"

namespace agon::kernels::reference {

void swiglu(const float* gate_up, std::int64_t rows, int width, float* y) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (int i = 0; i < width; ++i) {
      const double gate = gate_up[2 * r * width + i], up = gate_up[(2 * r + 1) * width + i];
      y[r * width + i] = static_cast<float>(gate / (1.0 + std::exp(-gate)) * up);
    }
}

void gelu(float* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    x[i] = static_cast<float>(x[i] * 0.5 * std::erfc(-x[i] / std::numbers::sqrt2));
}

void quick_gelu(float* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] = static_cast<float>(x[i] / (1.0 + std::exp(-1.702 * x[i])));
}

void tanh_gelu(float* x, std::int64_t count) {
  const double slope = std::sqrt(2 / std::numbers::pi);
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = x[i];
    x[i] = static_cast<float>(0.5 * value * (1 + std::tanh(slope * (value + 0.044715 * value * value * value))));
  }
}

}  // namespace agon::kernels::reference
