#include "kernels/rms_norm/rms_norm.h"

#include <cmath>

#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {

AGON_MULTIVERSION void rms_norm(const float* x, const float* weight, float epsilon, std::int64_t rows, int width,
                                std::int64_t stride, float* y) {
  const int whole = width / kLanes * kLanes, rest = width - whole;
  for (std::int64_t r = 0; r < rows; ++r, x += stride, y += stride) {
    Floats squares{};
    for (int i = 0; i < whole; i += kLanes) squares += load(x + i) * load(x + i);
    if (rest > 0) squares += load(x + whole, rest) * load(x + whole, rest);
    const float scale = 1.0f / std::sqrt(sum(squares) / static_cast<float>(width) + epsilon);
    for (int i = 0; i < whole; i += kLanes) store(y + i, load(x + i) * scale * load(weight + i));
    if (rest > 0) store(y + whole, load(x + whole, rest) * scale * load(weight + whole, rest), rest);
  }
}

}  // namespace agon::kernels
