#include "kernels/linear/coded/linear.h"

#include <cmath>
#include <limits>

#include "kernel_testing.h"
#include "kernels/half.h"
#include "kernels/linear/coded/product/product.h"

using namespace agon::kernels;
using namespace agon::test;

namespace {

// Codes, scales and offsets drawn at random.
struct RandomCodes {
  RandomCodes(const CodeFormat& format, int outputs, int depth, std::uint32_t seed)
      : inputs(depth), groups((depth + format.group - 1) / format.group) {
    const auto draws = random_floats(static_cast<std::size_t>(outputs) * static_cast<std::size_t>(inputs), seed);
    for (const float draw : draws)
      codes.push_back(static_cast<std::uint8_t>(std::abs(static_cast<int>(draw * 1e6f)) % (1 << format.bits)));
    scales = random_floats(static_cast<std::size_t>(outputs) * static_cast<std::size_t>(groups), seed + 1);
    offsets = random_floats(scales.size(), seed + 2);
    for (float& scale : scales) scale *= 1.0f / static_cast<float>(1 << format.bits);
  }
  CodedLinear packed(const CodeFormat& format, int outputs, const float* bias) const {
    return pack_coded_linear(
        format, outputs, inputs, bias,
        [this](int n) {
          return CodedRow{codes.data() + n * inputs, scales.data() + n * groups, offsets.data() + n * groups};
        },
        {});
  }
  int inputs, groups;
  std::vector<std::uint8_t> codes;
  std::vector<float> scales, offsets;
};

constexpr CodeFormat kFormats[] = {
    {.bits = 4, .middle = 8},
    {.bits = 4, .middle = 0, .has_offsets = true},
    {.bits = 5, .middle = 16},
    {.bits = 5, .middle = 0, .has_offsets = true},
    {.bits = 6, .group = 16, .middle = 32},
    {.bits = 8, .middle = 128},
};

std::vector<CodedProductFunction> coded_products() {
  std::vector<CodedProductFunction> all{coded_product_plain};
  for (const CodedProductFunction one : {coded_product_avx2(), coded_product_avx512(), coded_product_neon()})
    if (one) all.push_back(one);
  return all;
}

struct CodedCase {
  int outputs, inputs, rows;
};

}  // namespace

TEST_CASE("half precision: numbers come back, and others become the nearest") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_float(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    REQUIRE(float_to_half(value) == bits);
  }
  CHECK(float_to_half(1.0f + 0x1p-11f) == float_to_half(1.0f));  // a tie rounds to even
  CHECK(float_to_half(1.0f + 3 * 0x1p-11f) == float_to_half(1.0f) + 2);
  CHECK(half_to_float(float_to_half(65519.0f)) == 65504.0f);
  CHECK(std::isinf(half_to_float(float_to_half(65520.0f))));
  CHECK(half_to_float(float_to_half(-0x1p-25f)) == 0);
  CHECK(half_to_float(float_to_half(3 * 0x1p-26f)) == 0x1p-24f);
  CHECK(std::isnan(half_to_float(float_to_half(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("coded weights come back as they were packed") {
  for (const CodeFormat& format : kFormats) {
    const int outputs = 37, inputs = 96;
    const RandomCodes random(format, outputs, inputs, 1);
    const CodedLinear packed = random.packed(format, outputs, nullptr);
    std::vector<float> row(inputs);
    for (int n = 0; n < outputs; ++n) {
      decode_row(packed, n, row.data());
      for (int k = 0; k < inputs; ++k) {
        const std::size_t group = static_cast<std::size_t>(n * random.groups + k / format.group);
        const auto half = [](float value) { return half_to_float(float_to_half(value)); };
        const float offset = format.has_offsets ? half(random.offsets[group]) : 0.0f;
        const int code = random.codes[static_cast<std::size_t>(n * inputs + k)] - format.middle;
        CAPTURE(format.bits, n, k);
        REQUIRE(row[static_cast<std::size_t>(k)] == half(random.scales[group]) * static_cast<float>(code) + offset);
      }
    }
  }
}

TEST_CASE("coded linear equals its reference for odd sizes, with bias and residual, on every kind of processor") {
  const CodedCase sizes =
      GENERATE(CodedCase{1, 32, 1}, CodedCase{16, 32, 3}, CodedCase{17, 64, 9}, CodedCase{33, 160, 20},
               CodedCase{50, 576, 67}, CodedCase{5, 45, 2}, CodedCase{48, 96, 0});
  const Store mode = GENERATE(Store::set, Store::add);
  const bool with_bias = GENERATE(true, false);
  const auto [outputs, inputs, rows] = sizes;
  const int x_stride = inputs + 3, y_stride = outputs + 5;
  const auto bias = random_floats(static_cast<std::size_t>(outputs), 2);
  const auto x = random_floats(static_cast<std::size_t>(rows * x_stride), 3);
  const auto before = random_floats(static_cast<std::size_t>(rows * y_stride), 4);
  CodedInputs coded;
  code_inputs(x.data(), rows, x_stride, inputs, coded, {});
  for (const CodeFormat& format : kFormats) {
    const CodedLinear packed =
        RandomCodes(format, outputs, inputs, 5).packed(format, outputs, with_bias ? bias.data() : nullptr);
    auto expected = before;
    reference::coded_linear(packed, coded, expected.data(), y_stride, mode);
    for (const CodedProductFunction product : coded_products()) {
      auto y = before;
      coded_linear_by(product, packed, coded, y.data(), y_stride, mode, {});
      CAPTURE(format.bits, format.group, format.has_offsets);
      check_close(y, expected, 1e-4, 1e-4);
    }
  }
}

TEST_CASE("coded linear: a row has the same bits alone, in any batch and however the work is cut") {
  const int outputs = 85, inputs = 160, rows = 75;
  const auto x = random_floats(rows * inputs, 3);
  for (const CodeFormat& format : kFormats) {
    const CodedLinear packed = RandomCodes(format, outputs, inputs, 1).packed(format, outputs, nullptr);
    for (const CodedProductFunction product : coded_products()) {
      const auto run = [&](int begin, int count, std::vector<float>& y, const ParallelFor& parallel) {
        CodedInputs coded;
        code_inputs(x.data() + begin * inputs, count, inputs, inputs, coded, parallel);
        coded_linear_by(product, packed, coded, y.data() + begin * outputs, outputs, Store::set, parallel);
      };
      std::vector<float> whole(rows * outputs), alone(rows * outputs), batches(rows * outputs), cut(rows * outputs);
      run(0, rows, whole, {});
      for (int r = 0; r < rows; ++r) run(r, 1, alone, {});
      for (int r = 0, size = 1; r < rows; r += size, ++size) run(r, std::min(size, rows - r), batches, {});
      run(0, rows, cut, pieces_of(5));
      CHECK(same_bits(whole.data(), alone.data(), whole.size()));
      CHECK(same_bits(whole.data(), batches.data(), whole.size()));
      CHECK(same_bits(whole.data(), cut.data(), whole.size()));
    }
  }
}

// With scales of 1 and whole inputs up to 127 nothing is rounded.
TEST_CASE("coded linear: the sums of whole numbers are exact on every kind of processor") {
  const int outputs = 37, inputs = 96, rows = 11;
  std::vector<float> x = random_floats(rows * inputs, 3);
  for (float& value : x) value = std::round(value * 127);
  for (std::size_t i = 0; i < x.size(); i += 32) x[i] = i % 64 == 0 ? -127.0f : 127.0f;
  std::fill_n(x.begin(), inputs, 127.0f);  // two rows of the largest inputs
  std::fill_n(x.begin() + inputs, inputs, -127.0f);
  CodedInputs coded;
  code_inputs(x.data(), rows, inputs, inputs, coded, {});
  for (const CodeFormat& format : kFormats) {
    RandomCodes random(format, outputs, inputs, 1);
    random.scales.assign(random.scales.size(), 1);
    random.offsets.assign(random.offsets.size(), -3);
    for (std::size_t i = 0; i < random.codes.size(); i += 7)
      random.codes[i] = static_cast<std::uint8_t>(i % 2 == 0 ? 0 : (1 << format.bits) - 1);
    std::fill_n(random.codes.begin(), inputs, static_cast<std::uint8_t>((1 << format.bits) - 1));
    std::fill_n(random.codes.begin() + inputs, inputs, std::uint8_t{0});
    const CodedLinear packed = random.packed(format, outputs, nullptr);
    std::vector<float> expected(rows * outputs);
    reference::coded_linear(packed, coded, expected.data(), outputs, Store::set);
    for (const CodedProductFunction product : coded_products()) {
      std::vector<float> y(rows * outputs);
      coded_linear_by(product, packed, coded, y.data(), outputs, Store::set, {});
      CAPTURE(format.bits, format.group, format.has_offsets);
      CHECK(y == expected);
    }
  }
}

TEST_CASE("inputs in codes: the largest is 127, halves go to the even code, and what is no number stays none") {
  std::vector<float> x(64, 0.0f);
  x[0] = -254;
  x[1] = 1;  // half of a code
  x[2] = 3;
  x[31] = 100;
  CodedInputs coded;
  code_inputs(x.data(), 1, 64, 64, coded, {});
  const auto* const codes = reinterpret_cast<const std::int8_t*>(coded.codes.data());
  CHECK(coded.scales[0] == 2);
  CHECK(codes[0] == -127);
  CHECK(codes[1] == 0);
  CHECK(codes[2] == 2);
  CHECK(codes[31] == 50);
  CHECK(coded.sums == std::vector<std::int32_t>{-125, 50, 0, 0});
  CHECK(coded.scales[1] == 0);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    x[40] = bad;
    code_inputs(x.data(), 1, 64, 64, coded, {});
    const CodeFormat format{.bits = 8};
    const CodedLinear packed = RandomCodes(format, 3, 64, 1).packed(format, 3, nullptr);
    std::vector<float> y(3);
    coded_linear(packed, coded, y.data(), 3, Store::set, {});
    for (const float value : y) CHECK_FALSE(std::isfinite(value));
  }
}
