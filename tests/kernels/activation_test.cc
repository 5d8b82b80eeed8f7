#include "kernels/activation/activation.h"

#include <limits>

#include "kernel_testing.h"

using namespace agon::kernels;
using namespace agon::test;

TEST_CASE("swiglu equals its reference for odd widths") {
  const int width = GENERATE(1, 16, 19, 384), rows = 4;
  auto gate_up = random_floats(static_cast<std::size_t>(2 * rows * width), 1);
  for (float& value : gate_up) value *= 20;
  std::vector<float> y(static_cast<std::size_t>(rows * width)), expected = y;
  swiglu(gate_up.data(), rows, width, y.data());
  reference::swiglu(gate_up.data(), rows, width, expected.data());
  check_close(y, expected, 1e-7, 1e-6);
}

TEST_CASE("swiglu saturates without a NaN") {
  const std::vector<float> gate_up{-200, -88, 88, 200, 1e30f, -1e30f, 1, 1, 1, 1, 1, 1};
  std::vector<float> y(6);
  swiglu(gate_up.data(), 1, 6, y.data());
  CHECK(std::abs(y[0]) < 1e-35f);
  CHECK(y[3] == 200.0f);
  CHECK(y[4] == 1e30f);
  for (const float value : y) CHECK(std::isfinite(value));
}

TEST_CASE("gelu equals x/2 erfc(-x / sqrt 2), in the tails too") {
  std::vector<float> x;
  for (float value = -6; value < 6; value += 0.0037f) x.push_back(value);
  auto expected = x;
  gelu(x.data(), static_cast<std::int64_t>(x.size()));
  reference::gelu(expected.data(), static_cast<std::int64_t>(expected.size()));
  check_close(x, expected, 2e-8, 1e-6);
}

TEST_CASE("quick_gelu and tanh_gelu equal their references, and end in 0 and x") {
  std::vector<float> x;
  for (float value = -6; value < 6; value += 0.0037f) x.push_back(value);
  auto quick = x, quick_expected = x, tanh = x, tanh_expected = x;
  quick_gelu(quick.data(), std::ssize(quick));
  reference::quick_gelu(quick_expected.data(), std::ssize(x));
  check_close(quick, quick_expected, 2e-7, 1e-6);
  tanh_gelu(tanh.data(), std::ssize(tanh));
  reference::tanh_gelu(tanh_expected.data(), std::ssize(x));
  check_close(tanh, tanh_expected, 2e-7, 1e-6);
  for (const auto gelu_of : {quick_gelu, tanh_gelu}) {
    std::vector<float> ends{-1e30f, -200, 0, 200, 1e30f};
    gelu_of(ends.data(), std::ssize(ends));
    check_close(ends, {0, 0, 0, 200, 1e30f}, 1e-30, 1e-6);
  }
}
