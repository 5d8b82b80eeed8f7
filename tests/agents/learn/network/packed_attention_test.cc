#include "agents/learn/network/packed_attention.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/error.h"
#include "tensors.h"
#include "torch_catch.h"

namespace agon::agents {
namespace {

using at::Tensor;
using Catch::Matchers::Contains;
using test::largest_difference;

// Two trees. The first has a prompt of 5 rows, a response of 4 with branches after its rows 3 and 1, an empty response,
// and a response of 2. The second is one sequence of `long_length` rows.
struct Fixture {
  explicit Fixture(std::int64_t long_length) : long_rows(long_length) {
    PackedLayout all;
    all.trees = {{{0, 5, 0}, {5, 4, 5}, {9, 2, 8}, {11, 3, 6}, {14, 0, 5}, {14, 2, 5}}, {{16, long_rows, 0}}};
    all.rows = 16 + long_rows;
    layout = std::make_shared<const PackedLayout>(std::move(all));
    std::vector<std::int64_t> last(static_cast<std::size_t>(long_rows));
    for (std::int64_t i = 0; i < long_rows; ++i) last[static_cast<std::size_t>(i)] = 16 + i;
    sequences = {{0, 1, 2, 3, 4, 5, 6, 7, 8},
                 {0, 1, 2, 3, 4, 5, 6, 7, 9, 10},
                 {0, 1, 2, 3, 4, 5, 11, 12, 13},
                 {0, 1, 2, 3, 4, 14, 15},
                 std::move(last)};
    new_rows = {9, 2, 3, 2, long_rows};
  }
  // The attention of each sequence by itself, in double.
  Tensor alone(const Tensor& q, const Tensor& k, const Tensor& v) const {
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const Tensor rows = at::tensor(sequences[i], at::kLong);
      const auto of = [&](const Tensor& x) { return x.to(at::kDouble).index_select(0, rows).transpose(0, 1); };
      const auto repeat = [&](const Tensor& x) { return of(x).repeat_interleave(q.size(1) / k.size(1), 0); };
      const Tensor out = at::scaled_dot_product_attention(of(q), repeat(k), repeat(v), {}, 0.0, true).transpose(0, 1);
      parts.push_back(out.slice(0, rows.size(0) - new_rows[i]).flatten(1));
    }
    return at::cat(parts);
  }
  std::shared_ptr<const PackedLayout> layout;
  std::int64_t long_rows;
  std::vector<std::vector<std::int64_t>> sequences;
  std::vector<std::int64_t> new_rows;
};

void check_equal(at::ScalarType type, std::int64_t heads, std::int64_t key_heads, std::int64_t long_rows,
                 double tolerance) {
  at::manual_seed(3);
  const Fixture fixture(long_rows);
  const std::int64_t rows = fixture.layout->rows, width = 6;
  std::vector<Tensor> inputs;
  for (const std::int64_t count : {heads, key_heads, key_heads})
    inputs.push_back(at::randn({rows, count, width}).to(type).requires_grad_());
  const Tensor expected = fixture.alone(inputs[0], inputs[1], inputs[2]), mix = at::randn(expected.sizes());
  const auto wanted = torch::autograd::grad({(expected * mix).sum()}, inputs);
  const Tensor actual = PackedAttention(fixture.layout, inputs[0].options())(inputs[0], inputs[1], inputs[2]);
  INFO(type << ' ' << heads << " heads over " << key_heads << ", " << long_rows << " rows");
  REQUIRE(actual.sizes() == expected.sizes());
  CHECK(largest_difference(actual, expected) < tolerance);
  const auto gradients = torch::autograd::grad({(actual * mix.to(type)).sum()}, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    INFO("input " << i);
    CHECK(largest_difference(gradients[i], wanted[i]) < tolerance * wanted[i].abs().max().item<double>());
  }
}

TEST_CASE("packed_attention: every row equals its own sequence's, forward and backward") {
  for (const std::int64_t rows : {1, 70, 600})
    for (const auto& [heads, key_heads] : {std::pair(1, 1), std::pair(4, 2), std::pair(6, 2), std::pair(3, 1)}) {
      check_equal(at::kFloat, heads, key_heads, rows, 1e-5);
      check_equal(at::kDouble, heads, key_heads, rows, 1e-12);
    }
}

TEST_CASE("packed_attention: layouts that do not hold are refused") {
  const auto make = [](std::vector<PackedTree> trees, std::int64_t rows) {
    return PackedAttention(std::make_shared<const PackedLayout>(PackedLayout{std::move(trees), rows}),
                           at::TensorOptions(at::kFloat));
  };
  CHECK_NOTHROW(make({}, 0));
  CHECK_NOTHROW(make({{{0, 3, 0}, {3, 2, 3}}}, 5));
  CHECK_THROWS_AS(make({{{0, 3, 0}, {3, 2, 4}}}, 5), Error);  // a prefix beyond the stack
  CHECK_THROWS_AS(make({{{0, 3, -1}}}, 3), Error);
  CHECK_THROWS_AS(make({{{0, 3, 0}, {2, 2, 3}}}, 5), Error);  // a row twice
  CHECK_THROWS_AS(make({{{0, 3, 0}, {4, 1, 3}}}, 5), Error);  // a row missing
  CHECK_THROWS_AS(make({{{0, 3, 0}, {3, 3, 3}}}, 5), Error);  // beyond the rows
}

}  // namespace
}  // namespace agon::agents
