#include "kernels/rms_norm/rms_norm.h"

#include "kernel_testing.h"

using namespace agon::kernels;
using namespace agon::test;

TEST_CASE("rms_norm equals its reference, in place or not") {
  const int width = GENERATE(1, 15, 16, 17, 128, 131), rows = 7, stride = width + 2;
  const auto x = random_floats(static_cast<std::size_t>(rows * stride), 5);
  const auto weight = random_floats(static_cast<std::size_t>(width), 6);
  auto y = x, expected = x;
  rms_norm(x.data(), weight.data(), 1e-6f, rows, width, stride, y.data());
  reference::rms_norm(x.data(), weight.data(), 1e-6f, rows, width, stride, expected.data());
  check_close(y, expected, 1e-6, 1e-6);

  auto in_place = x;
  rms_norm(in_place.data(), weight.data(), 1e-6f, rows, width, stride, in_place.data());
  CHECK(same_bits(in_place.data(), y.data(), y.size()));
}

TEST_CASE("rms_norm: a row of zeros stays zero, huge and tiny rows stay finite") {
  const std::vector<float> weight(20, 1.0f);
  for (const float value : {0.0f, 1e-20f, 1e15f}) {
    const std::vector<float> x(20, value);
    std::vector<float> y(20);
    rms_norm(x.data(), weight.data(), 1e-6f, 1, 20, 20, y.data());
    for (const float out : y) CHECK(std::isfinite(out));
    if (value == 0.0f) CHECK(y[19] == 0.0f);
  }
}

TEST_CASE("rms_norm: a row has the same bits alone and in a batch") {
  const int width = 37, rows = 9;
  const auto x = random_floats(rows * width, 8), weight = random_floats(width, 9);
  std::vector<float> whole(x.size()), alone(x.size());
  rms_norm(x.data(), weight.data(), 1e-6f, rows, width, width, whole.data());
  for (int r = 0; r < rows; ++r)
    rms_norm(x.data() + r * width, weight.data(), 1e-6f, 1, width, width, alone.data() + r * width);
  CHECK(same_bits(whole.data(), alone.data(), whole.size()));
}
