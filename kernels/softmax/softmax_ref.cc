#include <algorithm>
#include <cmath>

#include "kernels/softmax/softmax.h"

namespace agon::kernels::reference {

SoftmaxSums softmax_weights(const float* logits, std::int64_t count, float inverse_temperature, float* weights) {
  SoftmaxSums sums{*std::max_element(logits, logits + count), 0};
  for (std::int64_t i = 0; i < count; ++i) {
    const double weight = std::exp((static_cast<double>(logits[i]) - sums.max) * inverse_temperature);
    weights[i] = static_cast<float>(weight);
    sums.total += weight;
  }
  return sums;
}

}  // namespace agon::kernels::reference
