#include "kernels/activation/activation.h"

#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {

AGON_MULTIVERSION void swiglu(const float* gate_up, std::int64_t rows, int width, float* y) {
  const int whole = width / kLanes * kLanes, rest = width - whole;
  for (std::int64_t r = 0; r < rows; ++r, gate_up += 2 * width, y += width) {
    const float* up = gate_up + width;
    for (int i = 0; i < whole; i += kLanes) store(y + i, silu(load(gate_up + i)) * load(up + i));
    if (rest > 0) store(y + whole, silu(load(gate_up + whole, rest)) * load(up + whole, rest), rest);
  }
}

AGON_MULTIVERSION void gelu(float* x, std::int64_t count) {
  const std::int64_t whole = count / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) store(x + i, gelu(load(x + i)));
  const int rest = static_cast<int>(count - whole);
  if (rest > 0) store(x + whole, gelu(load(x + whole, rest)), rest);
}

}  // namespace agon::kernels
