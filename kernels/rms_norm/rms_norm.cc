#include "kernels/rms_norm/rms_norm.h"

#include <cmath>

#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {

AGON_MULTIVERSION void rms_norm(const float* x, const float* weight, float epsilon, std::int64_t rows, int width,
                                std::int64_t stride, float* y) {
  const int whole = width / kLanes * kLanes, rest = width - whole;
  for (std::int64_t r = 0; r < rows; ++r, x += stride, y += stride) {
    float squares[kLanes] = {};
    for (int i = 0; i < whole; i += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) squares[lane] += x[i + lane] * x[i + lane];
    for (int lane = 0; lane < rest; ++lane) squares[lane] += x[whole + lane] * x[whole + lane];
    const float scale = 1.0f / std::sqrt(sum(squares) / static_cast<float>(width) + epsilon);
    AGON_APART
    for (int i = 0; i < width; ++i) y[i] = x[i] * scale * weight[i];
  }
}

}  // namespace agon::kernels
