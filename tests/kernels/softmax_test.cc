#include "kernels/softmax/softmax.h"

#include <limits>

#include "kernel_testing.h"

using namespace agon::kernels;
using namespace agon::test;

namespace {

double units_in_last_place(float actual, double expected) {
  const float nearest = static_cast<float>(expected);
  return std::abs(static_cast<double>(actual) - expected) /
         static_cast<double>(std::nextafter(nearest, std::numeric_limits<float>::infinity()) - nearest);
}

}  // namespace

TEST_CASE("the vector exponential is within 2 units in the last place of std::exp") {
  std::vector<float> logits{0};
  for (float x = 0; x > -87.3f; x -= 0.0013f) logits.push_back(x);
  std::vector<float> weights(logits.size());
  softmax_weights(logits.data(), static_cast<std::int64_t>(logits.size()), 1.0f, weights.data());
  double worst = 0;
  for (std::size_t i = 0; i < logits.size(); ++i)
    worst = std::max(worst, units_in_last_place(weights[i], std::exp(static_cast<double>(logits[i]))));
  CHECK(worst <= 2.0);
}

TEST_CASE("softmax_weights equals its reference at any temperature") {
  const int count = GENERATE(1, 15, 16, 185, 1000);
  const float inverse_temperature = GENERATE(1.0f, 0.1f, 3.0f, 1e6f);
  auto logits = random_floats(static_cast<std::size_t>(count), 1);
  for (float& logit : logits) logit *= 12;
  std::vector<float> weights(logits.size()), expected(logits.size());
  const SoftmaxSums sums = softmax_weights(logits.data(), count, inverse_temperature, weights.data());
  const SoftmaxSums wanted = reference::softmax_weights(logits.data(), count, inverse_temperature, expected.data());
  check_close(weights, expected, 1e-9, 2e-5);
  CHECK(sums.max == wanted.max);
  CHECK(sums.total == Approx(wanted.total).epsilon(1e-5));
}

TEST_CASE("softmax_weights: far logits weigh nothing, infinite ones below too, a NaN shows") {
  std::vector<float> logits{3, -200, -std::numeric_limits<float>::infinity(), -1e30f}, weights(4);
  const SoftmaxSums sums = softmax_weights(logits.data(), 4, 1.0f, weights.data());
  CHECK(weights == std::vector<float>{1, 0, 0, 0});
  CHECK(sums.total == 1.0);
  logits[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(softmax_weights(logits.data(), 4, 1.0f, weights.data()).total));
}
