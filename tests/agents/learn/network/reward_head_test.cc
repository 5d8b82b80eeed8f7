#include "agents/learn/network/reward_head.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>

#include <cmath>

#include "core/error.h"
#include "torch_catch.h"

using namespace agon;
using namespace agon::agents;

namespace {

std::vector<float> values_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kFloat).flatten().contiguous();
  return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
}

}  // namespace

TEST_CASE("A response is represented by its own rows alone") {
  const at::Tensor states = at::arange(12, at::kFloat).view({6, 2});  // rows [0, 1], [2, 3], ...
  const std::vector<std::int64_t> begins = {1, 4}, lengths = {2, 1};
  const auto of = [&](Representation kind) { return values_of(represent(states, begins, lengths, kind)); };
  CHECK(of(Representation::last) == std::vector<float>{4, 5, 8, 9});
  CHECK(of(Representation::first_and_last) == std::vector<float>{2, 3, 4, 5, 8, 9, 8, 9});
  CHECK(of(Representation::first_plus_last) == std::vector<float>{6, 8, 16, 18});
  CHECK(of(Representation::first_minus_last) == std::vector<float>{-2, -2, 0, 0});
  CHECK(of(Representation::mean) == std::vector<float>{3, 4, 8, 9});
}

TEST_CASE("The head is its formula with each activation") {
  at::manual_seed(1);
  const at::Tensor h = at::randn({5, 7});
  const auto by_hand = [](HeadKind kind, double x) {
    switch (kind) {
      case HeadKind::relu:
        return std::max(0.0, x);
      case HeadKind::gelu:
        return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
      case HeadKind::selu:
        return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (std::exp(x) - 1));
      case HeadKind::tanh:
        return std::tanh(x);
      case HeadKind::silu:
        return x / (1 + std::exp(-x));
      case HeadKind::linear:
        break;
    }
    return x;
  };
  for (const std::string& name : head_names()) {
    const HeadKind kind = parse_head(name);
    const RewardHead head(kind, 7, 11);
    const at::NoGradGuard no_grad;
    for (const auto& [weight, tensor] : head.weights()) at::Tensor(tensor).normal_(0, 0.5);
    const at::Tensor scores = head(h);
    REQUIRE(scores.sizes() == at::IntArrayRef{5});
    for (std::int64_t i = 0; i < 5; ++i) {
      double expected = head.weights().at("b2").item<double>();
      const at::Tensor& last = head.weights().at("w2");
      if (kind == HeadKind::linear) {
        expected += (last[0] * h[i]).sum().item<double>();
      } else {
        const at::Tensor inner = head.weights().at("w1").matmul(h[i]) + head.weights().at("b1");
        for (std::int64_t k = 0; k < 11; ++k)
          expected += last[0][k].item<double>() * by_hand(kind, inner[k].item<double>());
      }
      CHECK(scores[i].item<double>() == Approx(expected).margin(1e-5));
    }
  }
}

TEST_CASE("A fresh head has small weights and no biases") {
  at::manual_seed(2);
  const RewardHead head(HeadKind::silu, 128, 1024);
  CHECK(head.weights().at("w1").std().item<double>() == Approx(0.01).epsilon(0.02));
  CHECK(head.weights().at("b1").abs().max().item<double>() == 0);
  CHECK(head.weights().at("w2").sizes() == at::IntArrayRef{1, 1024});
  CHECK_THROWS_WITH(parse_head("sillu"), Catch::Contains("Did you mean 'silu'"));
  CHECK_THROWS_AS(parse_representation("middle"), Error);
}
