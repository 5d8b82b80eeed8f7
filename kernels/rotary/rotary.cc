#include "kernels/rotary/rotary.h"

#include "kernels/multiversion.h"

namespace agon::kernels {

AGON_MULTIVERSION void rotate(float* x, std::int64_t rows, std::int64_t stride, int heads, int head_dim,
                              const float* cosines, const float* sines) {
  const int half = head_dim / 2;
  for (std::int64_t r = 0; r < rows; ++r, cosines += half, sines += half)
    for (int h = 0; h < heads; ++h) {
      float* first = x + r * stride + h * head_dim;
      float* second = first + half;
      AGON_APART
      for (int i = 0; i < half; ++i) {
        const float a = first[i], b = second[i];
        first[i] = a * cosines[i] - b * sines[i];
        second[i] = b * cosines[i] + a * sines[i];
      }
    }
}

}  // namespace agon::kernels
