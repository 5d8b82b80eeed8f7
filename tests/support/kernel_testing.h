// tests/support/kernel_testing.h - inputs and comparisons that the tests of kernels share.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "kernels/parallel.h"

namespace agon::test {

// Values in [-1, 1), equal for equal seeds.
inline std::vector<float> random_floats(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) * 0x1.0p-23f - 1.0f;
  }
  return values;
}

// Checks |a - b| <= absolute + relative * |b| for every element.
inline void check_close(const std::vector<float>& actual, const std::vector<float>& expected, double absolute,
                        double relative) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double bound = absolute + relative * std::abs(static_cast<double>(expected[i]));
    const double difference = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
    INFO("at " << i << ": " << actual[i] << " for " << expected[i]);
    if (!(difference <= bound)) CHECK(difference <= bound);
  }
}

inline bool same_bits(const float* a, const float* b, std::size_t count) {
  return std::memcmp(a, b, count * sizeof(float)) == 0;
}

// Cuts a range into pieces of `piece`; every second piece runs on another thread.
inline kernels::ParallelFor pieces_of(std::int64_t piece) {
  return [piece](std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) {
    const auto every_second = [&](std::int64_t first) {
      for (std::int64_t begin = first; begin < count; begin += 2 * piece) body(begin, std::min(count, begin + piece));
    };
    std::thread other([&] { every_second(piece); });
    every_second(0);
    other.join();
  };
}

}  // namespace agon::test
