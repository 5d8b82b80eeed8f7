#include "kernels/layer_norm/layer_norm.h"

#include <cmath>

#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {

AGON_MULTIVERSION void layer_norm(const float* x, const float* weight, const float* bias, float epsilon,
                                  std::int64_t rows, int width, float* y) {
  const int whole = width / kLanes * kLanes, rest = width - whole;
  for (std::int64_t r = 0; r < rows; ++r, x += width, y += width) {
    float sums[kLanes] = {}, squares[kLanes] = {};
    for (int i = 0; i < whole; i += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) sums[lane] += x[i + lane];
    for (int lane = 0; lane < rest; ++lane) sums[lane] += x[whole + lane];
    const float mean = sum(sums) / static_cast<float>(width);
    for (int i = 0; i < whole; i += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) squares[lane] += (x[i + lane] - mean) * (x[i + lane] - mean);
    for (int lane = 0; lane < rest; ++lane) squares[lane] += (x[whole + lane] - mean) * (x[whole + lane] - mean);
    const float scale = 1.0f / std::sqrt(sum(squares) / static_cast<float>(width) + epsilon);
    AGON_APART
    for (int i = 0; i < width; ++i) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
  }
}

}  // namespace agon::kernels
