// kernels/softmax/softmax.h - softmax weights at a temperature, for sampling and log-probabilities.
#pragma once

#include <cstdint>

namespace agon::kernels {

struct SoftmaxSums {
  float max = 0;     // largest logit
  double total = 0;  // sum of the weights: the log-probability of i is (logit[i] - max) / T - log(total)
};
// weights[i] = exp((logits[i] - max) / T), with 1 / T given. REQUIRES: count > 0. A NaN among the logits makes the
// total NaN.
SoftmaxSums softmax_weights(const float* logits, std::int64_t count, float inverse_temperature, float* weights);

namespace reference {  // in double, with std::exp
SoftmaxSums softmax_weights(const float* logits, std::int64_t count, float inverse_temperature, float* weights);
}  // namespace reference

}  // namespace agon::kernels
