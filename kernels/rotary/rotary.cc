#include "kernels/rotary/rotary.h"

#include <algorithm>

#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {

AGON_MULTIVERSION void rotate(float* x, std::int64_t rows, std::int64_t stride, int heads, int head_dim,
                              const float* cosines, const float* sines) {
  const int half = head_dim / 2;
  for (std::int64_t r = 0; r < rows; ++r)
    for (int i = 0; i < half; i += kLanes) {
      const int count = std::min(kLanes, half - i);
      const Floats cosine = load(cosines + r * half + i, count), sine = load(sines + r * half + i, count);
      for (int h = 0; h < heads; ++h) {
        float* vector = x + r * stride + h * head_dim + i;
        const Floats a = load(vector, count), b = load(vector + half, count);
        store(vector, a * cosine - b * sine, count);
        store(vector + half, b * cosine + a * sine, count);
      }
    }
}

}  // namespace agon::kernels
