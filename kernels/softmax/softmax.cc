#include "kernels/softmax/softmax.h"

#include <limits>

#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

AGON_INLINE float largest_of(const float* values, std::int64_t whole, int rest) {
  Floats best = broadcast(kMinusInfinity);
  for (std::int64_t i = 0; i < whole; i += kLanes) best = larger(load(values + i), best);
  if (rest > 0) best = larger(load(values + whole, rest, kMinusInfinity), best);
  return largest(best);
}

}  // namespace

AGON_MULTIVERSION SoftmaxSums softmax_weights(const float* logits, std::int64_t count, float inverse_temperature,
                                              float* weights) {
  const std::int64_t whole = count / kLanes * kLanes;
  const int rest = static_cast<int>(count - whole);
  SoftmaxSums sums{largest_of(logits, whole, rest), 0};
  Floats total{};
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    const Floats weight = exp((load(logits + i) - sums.max) * inverse_temperature);
    store(weights + i, weight);
    total += weight;
  }
  if (rest > 0) {
    const Floats weight = exp((load(logits + whole, rest, kMinusInfinity) - sums.max) * inverse_temperature);
    store(weights + whole, weight, rest);
    total += weight;
  }
  sums.total = static_cast<double>(sum(total));
  return sums;
}

}  // namespace agon::kernels
