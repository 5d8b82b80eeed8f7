#include "kernels/rotary/rotary.h"

#include "kernel_testing.h"

using namespace agon::kernels;
using namespace agon::test;

TEST_CASE("rotate equals its reference and touches nothing else") {
  const int head_dim = GENERATE(2, 8, 32, 34, 80), heads = GENERATE(1, 3), rows = 5, stride = heads * head_dim + 4;
  auto x = random_floats(static_cast<std::size_t>(rows * stride), 1), expected = x;
  std::vector<float> cosines, sines;
  for (const float angle : random_floats(static_cast<std::size_t>(rows * head_dim / 2), 2)) {
    cosines.push_back(std::cos(9 * angle));
    sines.push_back(std::sin(9 * angle));
  }
  rotate(x.data(), rows, stride, heads, head_dim, cosines.data(), sines.data());
  reference::rotate(expected.data(), rows, stride, heads, head_dim, cosines.data(), sines.data());
  check_close(x, expected, 1e-6, 1e-6);
  for (int r = 0; r < rows; ++r)
    for (int i = heads * head_dim; i < stride; ++i) {
      const auto at = static_cast<std::size_t>(r * stride + i);
      CHECK(x[at] == expected[at]);
    }
}

TEST_CASE("rotate: a row has the same bits alone and in a batch, angle zero changes nothing") {
  const int head_dim = 24, rows = 6;
  const auto start = random_floats(rows * head_dim, 1);
  const auto cosines = random_floats(rows * head_dim / 2, 2), sines = random_floats(rows * head_dim / 2, 3);
  auto whole = start, alone = start, still = start;
  rotate(whole.data(), rows, head_dim, 1, head_dim, cosines.data(), sines.data());
  for (int r = 0; r < rows; ++r)
    rotate(alone.data() + r * head_dim, 1, head_dim, 1, head_dim, cosines.data() + r * head_dim / 2,
           sines.data() + r * head_dim / 2);
  CHECK(same_bits(whole.data(), alone.data(), whole.size()));

  const std::vector<float> ones(rows * head_dim / 2, 1.0f), zeros(rows * head_dim / 2);
  rotate(still.data(), rows, head_dim, 1, head_dim, ones.data(), zeros.data());
  CHECK(still == start);
}
