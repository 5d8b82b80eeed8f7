#include "agents/learn/loop/learning_rate.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace agon::agents;

TEST_CASE("learning rate: it rises in equal steps and stays at its peak") {
  const LearningRate rate{.peak = 0.8, .warmup_steps = 4};
  CHECK(rate_at(rate, 0) == Approx(0.2));
  CHECK(rate_at(rate, 1) == Approx(0.4));
  CHECK(rate_at(rate, 3) == 0.8);
  CHECK(rate_at(rate, 4) == 0.8);
  CHECK(rate_at(rate, 1000) == 0.8);
  CHECK(rate_at({.peak = 0.8}, 0) == 0.8);
}

TEST_CASE("learning rate: half a cosine falls to a share of the peak, after the warm-up") {
  const LearningRate rate{.peak = 2, .warmup_steps = 10, .decay = Decay::cosine, .final_share = 0.1, .decay_steps = 40};
  CHECK(rate_at(rate, 9) == 2);
  CHECK(rate_at(rate, 10) == 2);
  CHECK(rate_at(rate, 20) == Approx(2 * (0.1 + 0.9 * (2 + std::sqrt(2)) / 4)));
  CHECK(rate_at(rate, 30) == Approx(2 * 0.55));
  CHECK(rate_at(rate, 50) == Approx(0.2));
}

TEST_CASE("learning rate: a line falls to zero") {
  const LearningRate rate{.peak = 3, .decay = Decay::linear, .decay_steps = 4};
  CHECK(rate_at(rate, 0) == 3);
  CHECK(rate_at(rate, 1) == Approx(2.25));
  CHECK(rate_at(rate, 4) == 0);
}
