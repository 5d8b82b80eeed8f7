#include "kernels/softmax/softmax.h"

#include <algorithm>
#include <limits>

#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {
namespace {

AGON_INLINE float largest_of(const float* values, std::int64_t whole, int rest) {
  float best[kLanes];
  std::fill_n(best, kLanes, -std::numeric_limits<float>::infinity());
  for (std::int64_t i = 0; i < whole; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) best[lane] = larger(values[i + lane], best[lane]);
  for (int lane = 0; lane < rest; ++lane) best[lane] = larger(values[whole + lane], best[lane]);
  return largest(best);
}

}  // namespace

AGON_MULTIVERSION SoftmaxSums softmax_weights(const float* logits, std::int64_t count, float inverse_temperature,
                                              float* weights) {
  const std::int64_t whole = count / kLanes * kLanes;
  const int rest = static_cast<int>(count - whole);
  SoftmaxSums sums{largest_of(logits, whole, rest), 0};
  float total[kLanes] = {};
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    AGON_APART
    for (int lane = 0; lane < kLanes; ++lane)
      total[lane] += weights[i + lane] = exp((logits[i + lane] - sums.max) * inverse_temperature);
  }
  for (int lane = 0; lane < rest; ++lane)
    total[lane] += weights[whole + lane] = exp((logits[whole + lane] - sums.max) * inverse_temperature);
  sums.total = static_cast<double>(sum(total));
  return sums;
}

}  // namespace agon::kernels
