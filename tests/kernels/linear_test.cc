#include "kernels/linear/linear.h"

#include "kernel_testing.h"

using namespace agon::kernels;
using namespace agon::test;

namespace {

struct Case {
  int outputs, inputs, rows;
};

}  // namespace

TEST_CASE("linear equals its reference for odd sizes, with bias and residual") {
  const Case sizes = GENERATE(Case{1, 1, 1}, Case{31, 7, 5}, Case{32, 16, 8}, Case{33, 129, 9}, Case{185, 128, 67},
                              Case{64, 384, 130}, Case{48, 20, 0});
  const Store mode = GENERATE(Store::set, Store::add);
  const bool with_bias = GENERATE(true, false);
  const auto [outputs, inputs, rows] = sizes;
  const int x_stride = inputs + 3, y_stride = outputs + 5;
  const auto weight = random_floats(static_cast<std::size_t>(outputs * inputs), 1);
  const auto bias = random_floats(static_cast<std::size_t>(outputs), 2);
  const auto x = random_floats(static_cast<std::size_t>(rows * x_stride), 3);
  auto y = random_floats(static_cast<std::size_t>(rows * y_stride), 4), expected = y;
  const float* biases = with_bias ? bias.data() : nullptr;

  linear(pack_linear(weight.data(), biases, outputs, inputs), x.data(), rows, x_stride, y.data(), y_stride, mode, {});
  reference::linear(weight.data(), biases, outputs, inputs, x.data(), rows, x_stride, expected.data(), y_stride, mode);
  check_close(y, expected, 2e-5, 1e-5);
}

TEST_CASE("linear: a row has the same bits alone, in any batch and however the work is cut") {
  const int outputs = 185, inputs = 129, rows = 75;
  const auto weight = random_floats(outputs * inputs, 1), bias = random_floats(outputs, 2);
  const auto x = random_floats(rows * inputs, 3);
  const PackedLinear packed = pack_linear(weight.data(), bias.data(), outputs, inputs);
  std::vector<float> whole(rows * outputs), other(rows * outputs);
  linear(packed, x.data(), rows, inputs, whole.data(), outputs, Store::set, {});

  SECTION("alone") {
    for (int r = 0; r < rows; ++r)
      linear(packed, x.data() + r * inputs, 1, inputs, other.data() + r * outputs, outputs, Store::set, {});
  }
  SECTION("in batches of 1, 2, 3, ...") {
    for (int r = 0, size = 1; r < rows; r += size, ++size)
      linear(packed, x.data() + r * inputs, std::min(size, rows - r), inputs, other.data() + r * outputs, outputs,
             Store::set, {});
  }
  SECTION("cut for threads") {
    linear(packed, x.data(), rows, inputs, other.data(), outputs, Store::set, pieces_of(GENERATE(1, 2, 5, 100)));
  }
  CHECK(same_bits(whole.data(), other.data(), whole.size()));
}

TEST_CASE("linear writes nothing beside its outputs") {
  const auto weight = random_floats(5 * 4, 1), x = random_floats(3 * 4, 2);
  std::vector<float> y(3 * 8, 7.0f);
  linear(pack_linear(weight.data(), nullptr, 5, 4), x.data(), 3, 4, y.data(), 8, Store::set, {});
  for (int r = 0; r < 3; ++r)
    for (int n = 5; n < 8; ++n) CHECK(y[static_cast<std::size_t>(r * 8 + n)] == 7.0f);
}
