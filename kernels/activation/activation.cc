#include "kernels/activation/activation.h"

#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {

AGON_MULTIVERSION void swiglu(const float* gate_up, std::int64_t rows, int width, float* y) {
  for (std::int64_t r = 0; r < rows; ++r, gate_up += 2 * width, y += width)
    for (int i = 0; i < width; ++i) y[i] = silu(gate_up[i]) * gate_up[width + i];
}

AGON_MULTIVERSION void gelu(float* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] = gelu(x[i]);
}

AGON_MULTIVERSION void quick_gelu(float* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] = quick_gelu(x[i]);
}

AGON_MULTIVERSION void tanh_gelu(float* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] = tanh_gelu(x[i]);
}

}  // namespace agon::kernels
