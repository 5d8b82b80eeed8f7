#include "kernels/layer_norm/layer_norm.h"

#include "kernel_testing.h"

using namespace agon::kernels;
using namespace agon::test;

TEST_CASE("layer_norm equals its reference, in place or not") {
  const int width = GENERATE(1, 15, 16, 17, 128, 131), rows = 7;
  auto x = random_floats(static_cast<std::size_t>(rows * width), 5);
  for (float& value : x) value = value * 3 + 2;  // the mean is not near 0
  const auto weight = random_floats(static_cast<std::size_t>(width), 6);
  const auto bias = random_floats(static_cast<std::size_t>(width), 7);
  std::vector<float> y(x.size()), expected(x.size());
  layer_norm(x.data(), weight.data(), bias.data(), 1e-6f, rows, width, y.data());
  reference::layer_norm(x.data(), weight.data(), bias.data(), 1e-6f, rows, width, expected.data());
  check_close(y, expected, 2e-6, 2e-6);

  layer_norm(x.data(), weight.data(), bias.data(), 1e-6f, rows, width, x.data());
  CHECK(same_bits(x.data(), y.data(), y.size()));
}

TEST_CASE("layer_norm: equal values give the bias") {
  const auto weight = random_floats(20, 8), bias = random_floats(20, 9);
  for (const float value : {0.0f, -3.0f, 1024.0f}) {
    const std::vector<float> x(20, value);
    std::vector<float> y(20);
    layer_norm(x.data(), weight.data(), bias.data(), 1e-6f, 1, 20, y.data());
    check_close(y, bias, 1e-6, 1e-6);
  }
}

TEST_CASE("layer_norm: a row has the same bits alone and in a batch") {
  const int width = 37, rows = 9;
  const auto x = random_floats(rows * width, 8), weight = random_floats(width, 9), bias = random_floats(width, 10);
  std::vector<float> whole(x.size()), alone(x.size());
  layer_norm(x.data(), weight.data(), bias.data(), 1e-6f, rows, width, whole.data());
  for (int r = 0; r < rows; ++r)
    layer_norm(x.data() + r * width, weight.data(), bias.data(), 1e-6f, 1, width, alone.data() + r * width);
  CHECK(same_bits(whole.data(), alone.data(), whole.size()));
}
