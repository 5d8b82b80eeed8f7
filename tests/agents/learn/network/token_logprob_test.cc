#include "agents/learn/network/token_logprob.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

#include "core/error.h"
#include "torch_catch.h"

using at::Tensor;
using namespace agon::agents;

namespace {

struct Problem {
  Tensor hidden, head, ids, d_logprob, d_entropy;
};

Problem random_problem(std::int64_t tokens, std::int64_t width, std::int64_t vocabulary, at::TensorOptions options) {
  at::manual_seed(3);
  const double scale = 3 / std::sqrt(static_cast<double>(width));
  return {at::randn({tokens, width}).to(options).set_requires_grad(true),
          (at::randn({vocabulary, width}) * scale).to(options).set_requires_grad(true),
          at::randint(vocabulary, {tokens}, at::kLong).to(options.device()), at::randn({tokens}).to(options),
          at::randn({tokens}).to(options)};
}

TokenLogprobs plain(const Problem& problem, double temperature) {
  const Tensor logprobs = at::log_softmax(at::mm(problem.hidden, problem.head.t()) / temperature, -1);
  return {logprobs.gather(1, problem.ids.unsqueeze(1)).squeeze(1), -(logprobs.exp() * logprobs).sum(1)};
}

std::vector<Tensor> gradients(const TokenLogprobs& of, const Problem& problem) {
  return torch::autograd::grad(
      {of.logprob, of.entropy}, {problem.hidden, problem.head},
      {problem.d_logprob.to(of.logprob.scalar_type()), problem.d_entropy.to(of.logprob.scalar_type())});
}

// The largest difference as a share of the largest value, or of 1 where all are smaller.
double difference(const Tensor& actual, const Tensor& expected) {
  REQUIRE(actual.sizes() == expected.sizes());
  if (actual.numel() == 0) return 0;
  const double scale = std::max(1.0, expected.abs().max().item<double>());
  return (actual.to(at::kDouble) - expected.to(at::kDouble)).abs().max().item<double>() / scale;
}

void check_equal(const Problem& problem, double temperature, double bound) {
  const TokenLogprobs actual = token_logprobs(problem.hidden, problem.head, problem.ids, temperature);
  const TokenLogprobs expected = plain(problem, temperature);
  CHECK(difference(actual.logprob, expected.logprob) <= bound);
  CHECK(difference(actual.entropy, expected.entropy) <= bound);
  const auto ours = gradients(actual, problem), theirs = gradients(expected, problem);
  CHECK(difference(ours[0], theirs[0]) <= bound);
  CHECK(difference(ours[1], theirs[1]) <= bound);
}

double weighted_sum(const Problem& problem, const Tensor& hidden, const Tensor& head) {
  const at::NoGradGuard no_grad;
  const TokenLogprobs of = token_logprobs(hidden, head, problem.ids, 0.8);
  return (of.logprob * problem.d_logprob + of.entropy * problem.d_entropy).sum().item<double>();
}

}  // namespace

TEST_CASE("token_logprobs equals log_softmax of the logits, forward and backward", "[token_logprob]") {
  const auto [tokens, width, vocabulary] =
      GENERATE(table<std::int64_t, std::int64_t, std::int64_t>({{1, 8, 5}, {37, 33, 701}, {1030, 16, 90}}));
  const double temperature = GENERATE(1.0, 0.6, 1.7);
  check_equal(random_problem(tokens, width, vocabulary, at::kFloat), temperature, 1e-5);
  check_equal(random_problem(tokens, width, vocabulary, at::kDouble), temperature, 1e-12);
}

TEST_CASE("token_logprobs: gradients equal finite differences in double", "[token_logprob]") {
  const Problem problem = random_problem(4, 3, 7, at::kDouble);
  const auto ours = gradients(token_logprobs(problem.hidden, problem.head, problem.ids, 0.8), problem);
  const double step = 1e-6;
  const auto slope = [&](const Tensor& values, std::int64_t i) {
    Tensor line = values.detach().view(-1)[i];  // a view: it moves the weights
    line += step;
    const double above = weighted_sum(problem, problem.hidden, problem.head);
    line -= 2 * step;
    const double below = weighted_sum(problem, problem.hidden, problem.head);
    line += step;
    return (above - below) / (2 * step);
  };
  for (std::int64_t i = 0; i < problem.hidden.numel(); ++i)
    CHECK(ours[0].view(-1)[i].item<double>() == Approx(slope(problem.hidden, i)).epsilon(1e-6).margin(1e-8));
  for (std::int64_t i = 0; i < problem.head.numel(); ++i)
    CHECK(ours[1].view(-1)[i].item<double>() == Approx(slope(problem.head, i)).epsilon(1e-6).margin(1e-8));
}

TEST_CASE("token_logprobs takes views, one output alone and a frozen head", "[token_logprob]") {
  const auto type = GENERATE(at::kFloat, at::kDouble);
  const Problem problem = random_problem(20, 12, 300, type);
  SECTION("views") {
    const Tensor wide = at::randn({12, 40}, type).set_requires_grad(true), every_second = wide.t().slice(0, 0, 40, 2);
    const Problem viewed{every_second, problem.head, problem.ids, problem.d_logprob, problem.d_entropy};
    check_equal(viewed, 1.1, 1e-5);
  }
  SECTION("one output alone") {
    const TokenLogprobs ours = token_logprobs(problem.hidden, problem.head, problem.ids);
    const TokenLogprobs theirs = plain(problem, 1);
    for (const auto& [a, b] : {std::pair(ours.logprob, theirs.logprob), std::pair(ours.entropy, theirs.entropy)}) {
      const auto actual = torch::autograd::grad({a.sum()}, {problem.hidden, problem.head}, {}, true);
      const auto expected = torch::autograd::grad({b.sum()}, {problem.hidden, problem.head}, {}, true);
      CHECK(difference(actual[0], expected[0]) <= 1e-5);
      CHECK(difference(actual[1], expected[1]) <= 1e-5);
    }
  }
  SECTION("a frozen head") {
    const TokenLogprobs ours = token_logprobs(problem.hidden, problem.head.detach(), problem.ids);
    const auto actual = torch::autograd::grad({ours.logprob.sum()}, {problem.hidden});
    const auto expected = torch::autograd::grad({plain(problem, 1).logprob.sum()}, {problem.hidden});
    CHECK(difference(actual[0], expected[0]) <= 1e-5);
  }
}

TEST_CASE("token_logprobs of half types: rows in float32, gradients in the type", "[token_logprob]") {
  const Problem problem = random_problem(9, 16, 50, at::kBFloat16);
  const TokenLogprobs ours = token_logprobs(problem.hidden, problem.head, problem.ids);
  CHECK(ours.logprob.scalar_type() == at::kFloat);
  CHECK(gradients(ours, problem)[1].scalar_type() == at::kBFloat16);
  check_equal(problem, 1, 0.05);
}

TEST_CASE("token_logprobs: the same bits on one thread and on two", "[token_logprob]") {
  const Problem problem = random_problem(70, 48, 2000, at::kFloat);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto one = gradients(token_logprobs(problem.hidden, problem.head, problem.ids), problem);
  at::set_num_threads(2);
  const auto two = gradients(token_logprobs(problem.hidden, problem.head, problem.ids), problem);
  at::set_num_threads(threads);
  CHECK(at::equal(one[0], two[0]));
  CHECK(at::equal(one[1], two[1]));
}

TEST_CASE("token_logprobs of no tokens, and of weights that are not finite", "[token_logprob]") {
  const auto type = GENERATE(at::kFloat, at::kDouble);
  const Problem none = random_problem(0, 4, 10, type);
  const TokenLogprobs empty = token_logprobs(none.hidden, none.head, none.ids);
  CHECK(empty.logprob.numel() == 0);
  CHECK(at::equal(gradients(empty, none)[1], at::zeros({10, 4}, type)));

  const Problem problem = random_problem(3, 4, 10, type);
  problem.head.detach()[5][0] = std::numeric_limits<double>::quiet_NaN();
  CHECK(token_logprobs(problem.hidden, problem.head, problem.ids).logprob.isnan().all().item<bool>());
}

TEST_CASE("token_logprobs refuses what does not fit", "[token_logprob]") {
  const Problem p = random_problem(3, 4, 10, at::kFloat);
  using Catch::Contains;
  CHECK_THROWS_WITH(token_logprobs(p.hidden, at::randn({10, 5}), p.ids), Contains("Give hidden states [T, H]"));
  CHECK_THROWS_WITH(token_logprobs(p.hidden, at::randn({0, 4}), p.ids), Contains("an LM head of 0 in 2"));
  CHECK_THROWS_WITH(token_logprobs(p.hidden, p.head, p.ids.narrow(0, 0, 2)), Contains("2 Long ids"));
  CHECK_THROWS_WITH(token_logprobs(p.hidden, p.head, p.ids.to(at::kInt)), Contains("Give one int64 for each"));
  CHECK_THROWS_WITH(token_logprobs(p.hidden, p.head.to(at::kDouble), p.ids),
                    Contains("Float on cpu with a head of Double"));
  CHECK_THROWS_WITH(token_logprobs(p.hidden, p.head, p.ids + 10), Contains("in a vocabulary of 10"));
  CHECK_THROWS_WITH(token_logprobs(p.hidden, p.head, p.ids - 10), Contains("in a vocabulary of 10"));
  CHECK_THROWS_WITH(token_logprobs(p.hidden, p.head, p.ids, 0), Contains("the temperature is 0"));
  CHECK_THROWS_AS(token_logprobs(p.hidden, p.head, p.ids, std::nan("")), agon::Error);
}
