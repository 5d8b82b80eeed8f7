#include "agents/learn/network/dot.h"

#include "kernels/multiversion.h"

namespace agon::agents {

AGON_MULTIVERSION float dot(const float* a, const float* b, std::int64_t n) {
  constexpr int kLanes = 16;
  float lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  float sum = 0;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (float lane : lanes) sum += lane;
  return sum;
}

}  // namespace agon::agents
