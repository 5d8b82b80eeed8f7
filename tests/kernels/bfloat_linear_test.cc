#include "kernels/linear/bfloat/linear.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "emulated_tiles.h"
#include "kernel_testing.h"
#include "kernels/linear/bfloat/product/product.h"

using namespace agon::kernels;
using namespace agon::test;

namespace {

std::vector<std::uint16_t> random_bfloats(std::size_t count, std::uint32_t seed) {
  std::vector<std::uint16_t> bits;
  for (const float value : random_floats(count, seed))
    bits.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
  return bits;
}

BfloatLinear packed(const std::vector<std::uint16_t>& weight, int outputs, int inputs, const float* bias) {
  return pack_bfloat_linear(outputs, inputs, bias,
                            [&](int n, std::uint16_t* row) { std::copy_n(weight.data() + n * inputs, inputs, row); },
                            {});
}

void emulated_product(const BfloatProduct& at, std::int64_t begin, std::int64_t end) {
  EmulatedTiles tiles;
  multiply_tiles(tiles, at, begin, end);
}

std::vector<BfloatProductFunction> bfloat_products() {
  std::vector<BfloatProductFunction> all{bfloat_product_plain, emulated_product};
  for (const BfloatProductFunction one :
       {bfloat_product_avx512(), bfloat_product_amx(), bfloat_product_neon(), bfloat_product_bfdot()})
    if (one) all.push_back(one);
  return all;
}

struct BfloatCase {
  int outputs, inputs, rows;
};

}  // namespace

TEST_CASE("bfloat linear equals its reference for odd sizes, with bias and residual, on every kind of processor") {
  const BfloatCase sizes =
      GENERATE(BfloatCase{1, 1, 1}, BfloatCase{31, 7, 5}, BfloatCase{32, 16, 8}, BfloatCase{33, 129, 9},
               BfloatCase{185, 128, 67}, BfloatCase{64, 384, 130}, BfloatCase{48, 20, 0});
  const Store mode = GENERATE(Store::set, Store::add);
  const bool with_bias = GENERATE(true, false);
  const auto [outputs, inputs, rows] = sizes;
  const int x_stride = inputs + 3, y_stride = outputs + 5;
  const auto weight = random_bfloats(static_cast<std::size_t>(outputs * inputs), 1);
  const auto bias = random_floats(static_cast<std::size_t>(outputs), 2);
  const auto x = random_floats(static_cast<std::size_t>(rows * x_stride), 3);
  const auto before = random_floats(static_cast<std::size_t>(rows * y_stride), 4);
  const BfloatLinear linear = packed(weight, outputs, inputs, with_bias ? bias.data() : nullptr);
  BfloatInputs rounded;
  round_inputs(x.data(), rows, x_stride, inputs, rounded, {});
  auto expected = before;
  reference::bfloat_linear(linear, rounded, expected.data(), y_stride, mode);
  for (const BfloatProductFunction product : bfloat_products()) {
    auto y = before;
    bfloat_linear_by(product, linear, rounded, y.data(), y_stride, mode, {});
    check_close(y, expected, 2e-5, 1e-5);
  }
}

TEST_CASE("bfloat linear: a row has the same bits alone, in any batch and however the work is cut") {
  const int outputs = 185, inputs = 129, rows = 75;
  const auto x = random_floats(rows * inputs, 3);
  const BfloatLinear linear = packed(random_bfloats(outputs * inputs, 1), outputs, inputs, nullptr);
  for (const BfloatProductFunction product : bfloat_products()) {
    const auto run = [&](int begin, int count, std::vector<float>& y, const ParallelFor& parallel) {
      BfloatInputs rounded;
      round_inputs(x.data() + begin * inputs, count, inputs, inputs, rounded, parallel);
      bfloat_linear_by(product, linear, rounded, y.data() + begin * outputs, outputs, Store::set, parallel);
    };
    std::vector<float> whole(rows * outputs), alone(rows * outputs), batches(rows * outputs), cut(rows * outputs);
    run(0, rows, whole, {});
    for (int r = 0; r < rows; ++r) run(r, 1, alone, {});
    for (int r = 0, size = 1; r < rows; r += size, ++size) run(r, std::min(size, rows - r), batches, {});
    run(0, rows, cut, pieces_of(2));
    CHECK(same_bits(whole.data(), alone.data(), whole.size()));
    CHECK(same_bits(whole.data(), batches.data(), whole.size()));
    CHECK(same_bits(whole.data(), cut.data(), whole.size()));
  }
}

namespace {

// The weights of BfloatCase as panels, and as a view of rows at an odd address.
struct ViewedWeights {
  explicit ViewedWeights(const BfloatCase& sizes)
      : values(random_bfloats(static_cast<std::size_t>(sizes.outputs * sizes.inputs), 1)),
        bias(random_floats(static_cast<std::size_t>(sizes.outputs), 2)),
        file(2 * values.size() + 1),
        panels(packed(values, sizes.outputs, sizes.inputs, bias.data())),
        view(view_bfloat_linear(sizes.outputs, sizes.inputs, bias.data(), file.data() + 1)) {
    std::memcpy(file.data() + 1, values.data(), 2 * values.size());
  }
  std::vector<std::uint16_t> values;
  std::vector<float> bias;
  std::vector<std::uint8_t> file;
  BfloatLinear panels, view;
};

std::vector<float> product_of(BfloatProductFunction product, const BfloatLinear& weight, const BfloatInputs& x) {
  std::vector<float> y(static_cast<std::size_t>(x.rows * weight.outputs));
  bfloat_linear_by(product, weight, x, y.data(), weight.outputs, Store::set, pieces_of(2));
  return y;
}

}  // namespace

TEST_CASE("bfloat linear: a view of rows, at odd addresses too, gives the bits of panels") {
  const BfloatCase sizes = GENERATE(BfloatCase{1, 2, 1}, BfloatCase{31, 32, 5}, BfloatCase{33, 130, 140},
                                    BfloatCase{185, 4866, 9}, BfloatCase{64, 384, 257});
  const auto [outputs, inputs, rows] = sizes;
  const ViewedWeights weights(sizes);
  const auto x = random_floats(static_cast<std::size_t>(rows * inputs), 3);
  BfloatInputs rounded;
  round_inputs(x.data(), rows, inputs, inputs, rounded, {});
  for (const BfloatProductFunction product : bfloat_products()) {
    const auto expected = product_of(product, weights.panels, rounded), y = product_of(product, weights.view, rounded);
    CHECK(same_bits(y.data(), expected.data(), y.size()));
  }
  std::vector<float> row(static_cast<std::size_t>(inputs)), expected(row.size());
  decode_row(weights.panels, outputs - 1, expected.data());
  decode_row(weights.view, outputs - 1, row.data());
  CHECK(row == expected);
  CHECK(bytes_of(weights.view) == 2 * weights.values.size() + 4 * weights.bias.size());
}

TEST_CASE("bfloat linear: a view is packed beside products with it, and reads its rows no more") {
  const BfloatCase sizes{700, 256, 8};
  ViewedWeights weights(sizes);
  const auto x = random_floats(8 * 256, 3);
  BfloatInputs rounded;
  round_inputs(x.data(), 8, 256, 256, rounded, {});
  const auto expected = product_of(bfloat_product_plain, weights.panels, rounded);
  {
    const std::jthread packer([&] {
      while (pack_view(weights.view, 40) < sizes.outputs) std::this_thread::yield();
    });
    while (weights.view.pending->made * 16 < sizes.outputs)
      CHECK(product_of(bfloat_product_plain, weights.view, rounded) == expected);
  }
  std::ranges::fill(weights.file, std::uint8_t{0});
  CHECK(product_of(bfloat_product_plain, weights.view, rounded) == expected);
}

TEST_CASE("bfloat linear: a view that is packed in part uses its panels and its other rows") {
  ViewedWeights weights({100, 32, 1});
  const auto x = random_floats(32, 3);
  BfloatInputs rounded;
  round_inputs(x.data(), 1, 32, 32, rounded, {});
  const auto expected = product_of(bfloat_product_plain, weights.panels, rounded);
  for (const int packed : {32, 64, 96, 100}) {
    CHECK(pack_view(weights.view, 30) == packed);
    std::fill_n(weights.file.data(), 1 + packed * 32 * 2, std::uint8_t{0});  // a read of packed rows would find zeros
    CHECK(product_of(bfloat_product_plain, weights.view, rounded) == expected);
    for (const int output : {0, packed - 1, 99}) {
      std::vector<float> row(32), right(32);
      decode_row(weights.view, output, row.data());
      decode_row(weights.panels, output, right.data());
      CHECK(row == right);
    }
  }
}

TEST_CASE("bfloat panels are the same from every processor") {
  constexpr std::int64_t kPairs = 37, kStride = 2 * (2 * kPairs + 3);  // bytes
  const auto values = random_bfloats(16 * kStride / 2, 1);
  for (const std::int64_t count : {16, 15, 1}) {
    const BfloatRows rows{reinterpret_cast<const std::uint8_t*>(values.data()), kStride, count, kPairs};
    std::vector<std::uint16_t> expected(16 * 2 * kPairs, 1), panel(expected.size(), 2);
    bfloat_interleave_plain(rows, expected.data());
    CHECK(expected[2 * 16 * 36] == values[2 * 36]);
    CHECK(expected[2 * 16 * 36 + 2 * 15] == (count == 16 ? values[15 * kStride / 2 + 2 * 36] : 0));
    if (!bfloat_interleave_avx512()) continue;
    bfloat_interleave_avx512()(rows, panel.data());
    CHECK(panel == expected);
  }
}

TEST_CASE("tiles of bfloat16 sum in another order than VDPBF16PS, so a processor computes all rows by one of them") {
  const std::vector<std::uint16_t> weight(4, 0x3f80);  // 1
  const std::vector<float> x{1, 0x1p-24f, 0x1p-24f, 0x1p-24f};
  const BfloatLinear linear = packed(weight, 1, 4, nullptr);
  BfloatInputs rounded;
  round_inputs(x.data(), 1, 4, 4, rounded, {});
  const auto result_of = [&](BfloatProductFunction product) {
    float y = 0;
    bfloat_linear_by(product, linear, rounded, &y, 1, Store::set, {});
    return y;
  };
  CHECK(result_of(emulated_product) == 1 + 0x1p-23f);
  if (bfloat_product_avx512()) CHECK(result_of(bfloat_product_avx512()) == 1);
  if (bfloat_product_amx())
    CHECK(std::abs(result_of(bfloat_product_amx()) - 1) <= 0x1p-23f);
  else
    WARN("only emulated tiles were tested: this processor has no AMX, or the system does not give it");
}

TEST_CASE("bfloat weights come back, and inputs become the nearest") {
  const auto weight = random_bfloats(5 * 9, 1);
  const BfloatLinear linear = packed(weight, 5, 9, nullptr);
  std::vector<float> row(9);
  decode_row(linear, 3, row.data());
  for (int k = 0; k < 9; ++k)
    CHECK(std::bit_cast<std::uint32_t>(row[static_cast<std::size_t>(k)]) ==
          static_cast<std::uint32_t>(weight[static_cast<std::size_t>(3 * 9 + k)]) << 16);
  const float none = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  const std::vector<float> x{1 + 0x1p-8f, 1 + 3 * 0x1p-8f, -1 - 0x1.1p-8f, none, infinite, 3.4e38f};
  BfloatInputs rounded;
  round_inputs(x.data(), 1, 6, 6, rounded, {});
  const auto* const bits = reinterpret_cast<const std::uint16_t*>(rounded.values.data());
  CHECK(bits[0] == 0x3f80);  // a tie rounds to even
  CHECK(bits[1] == 0x3f82);
  CHECK(bits[2] == 0xbf81);
  CHECK((bits[3] & 0x7fff) > 0x7f80);
  CHECK(bits[4] == 0x7f80);
  CHECK(bits[5] == 0x7f80);
}
