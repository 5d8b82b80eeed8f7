#include "kernels/rotary/rotary.h"

namespace agon::kernels::reference {

void rotate(float* x, std::int64_t rows, std::int64_t stride, int heads, int head_dim, const float* cosines,
            const float* sines) {
  const int half = head_dim / 2;
  for (std::int64_t r = 0; r < rows; ++r)
    for (int h = 0; h < heads; ++h)
      for (int i = 0; i < half; ++i) {
        float* vector = x + r * stride + h * head_dim;
        const double a = vector[i], b = vector[half + i], cosine = cosines[r * half + i], sine = sines[r * half + i];
        vector[i] = static_cast<float>(a * cosine - b * sine);
        vector[half + i] = static_cast<float>(b * cosine + a * sine);
      }
}

}  // namespace agon::kernels::reference
