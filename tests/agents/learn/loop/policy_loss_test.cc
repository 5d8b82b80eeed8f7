#include "agents/learn/loop/policy_loss.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "paths.h"
#include "torch_catch.h"

using at::Tensor;
using Catch::Matchers::Contains;
using namespace agon::agents;

namespace {

Tensor row(std::vector<double> list) { return at::tensor(list, at::kDouble); }
double number(const Tensor& scalar) { return scalar.item<double>(); }

// One token with this ratio and advantage; everything else is neutral.
PolicyTokens one_token(double ratio, double advantage) {
  return {.logprob = row({std::log(ratio) - 1}).set_requires_grad(true),
          .old_logprob = row({-1}),
          .advantage = row({advantage}),
          .weight = row({1})};
}

// Ratios on both sides of the clip and well away from its corners, where a finite difference would straddle them.
PolicyTokens random_tokens(std::int64_t count) {
  at::manual_seed(7);
  const auto type = at::TensorOptions(at::kDouble);
  PolicyTokens tokens;
  tokens.logprob = (-at::rand({count}, type) * 3).set_requires_grad(true);
  tokens.old_logprob = tokens.logprob.detach() + at::randn({count}, type) * 0.4;
  tokens.reference_logprob = tokens.logprob.detach() + at::randn({count}, type) * 0.6;
  tokens.advantage = at::randn({count}, type);
  tokens.kl = at::rand({count}, type);
  tokens.weight = at::rand({count}, type) * (at::rand({count}, type) < 0.8);
  tokens.entropy = at::rand({count}, type);
  return tokens;
}

Tensor part_of(const Tensor& whole, std::int64_t begin, std::int64_t end) {
  return whole.defined() ? whole.slice(0, begin, end) : Tensor();
}
PolicyTokens part_of(const PolicyTokens& whole, std::int64_t begin, std::int64_t end) {
  return {part_of(whole.logprob, begin, end),
          part_of(whole.old_logprob, begin, end),
          part_of(whole.reference_logprob, begin, end),
          part_of(whole.advantage, begin, end),
          part_of(whole.kl, begin, end),
          part_of(whole.weight, begin, end),
          part_of(whole.entropy, begin, end)};
}

void check_equal(const PolicyLossFigures& actual, const PolicyLossFigures& expected) {
  CHECK(actual.loss == Approx(expected.loss));
  for (const auto member : {&PolicyLossFigures::ratio, &PolicyLossFigures::clipped_low,
                            &PolicyLossFigures::clipped_high, &PolicyLossFigures::kl, &PolicyLossFigures::entropy}) {
    CHECK((actual.*member).sum == Approx((expected.*member).sum));
    CHECK((actual.*member).count == (expected.*member).count);
  }
}

// A tensor from nested arrays of numbers.
Tensor tensor_of(const agon::Json& nested) {
  if (nested.is_number()) return at::scalar_tensor(nested.get<double>(), at::kDouble);
  std::vector<Tensor> parts;
  for (const agon::Json& part : nested) parts.push_back(tensor_of(part));
  return at::stack(parts);
}

// The weights by which TRL's loss types are one plain sum: lengths [B], mask [B, L].
Tensor trl_weights(const std::string& type, const Tensor& lengths, const Tensor& mask, double max_completion) {
  const auto rollouts = static_cast<double>(lengths.numel());
  if (type == "grpo") return mask / lengths.unsqueeze(1) / rollouts;
  if (type == "dr_grpo") return mask / (rollouts * max_completion);
  return mask / lengths.sum();  // bnpo, and dapo for a whole batch
}

}  // namespace

TEST_CASE("policy_loss clips the ratio on the side that the advantage pushes to, and there alone", "[policy_loss]") {
  struct Case {
    double ratio, advantage, loss, gradient, low, high;  // gradient: with respect to the log-probability
  };
  const auto c = GENERATE(values<Case>({{1.0, 2, -2, -2, 0, 0},
                                        {1.1, 2, -2.2, -2.2, 0, 0},
                                        {1.5, 2, -2.56, 0, 0, 1},  // clipped to 1.28
                                        {0.5, 2, -1, -1, 0, 0},    // below, but the advantage pulls it back
                                        {0.5, -2, 1.6, 0, 1, 0},   // clipped to 0.8
                                        {1.5, -2, 3, 3, 0, 0},
                                        {1.5, 0, 0, 0, 0, 0}}));
  const PolicyTokens token = one_token(c.ratio, c.advantage);
  const PolicyLoss result = policy_loss(token, {.clip_low = 0.2, .clip_high = 0.28});
  CHECK(number(result.loss) == Approx(c.loss));
  CHECK(number(torch::autograd::grad({result.loss}, {token.logprob})[0]) == Approx(c.gradient).margin(1e-12));
  CHECK(result.figures.ratio.mean() == Approx(c.ratio));
  CHECK(result.figures.clipped_low.mean() == c.low);
  CHECK(result.figures.clipped_high.mean() == c.high);
  CHECK(result.figures.kl.count == 0);
  CHECK(result.figures.entropy.count == 0);
}

TEST_CASE("policy_loss adds the weighted divergence by each estimator", "[policy_loss]") {
  const double d = 0.5;  // ln reference - ln policy
  struct Case {
    KlEstimator estimator;
    double value, gradient;
  };
  const auto c = GENERATE_COPY(
      values<Case>({{KlEstimator::k2, d * d / 2, -d}, {KlEstimator::k3, std::exp(d) - d - 1, 1 - std::exp(d)}}));
  PolicyTokens token = one_token(1, 0);
  token.reference_logprob = token.logprob.detach() + d;
  token.kl = row({0.04});
  token.weight = row({0.25});
  const PolicyLoss result = policy_loss(token, {.kl = c.estimator});
  CHECK(number(result.loss) == Approx(0.25 * 0.04 * c.value));
  CHECK(number(torch::autograd::grad({result.loss}, {token.logprob})[0]) == Approx(0.25 * 0.04 * c.gradient));
  CHECK(result.figures.kl.mean() == Approx(c.value));
}

TEST_CASE("policy_loss: a clamped divergence is finite, has no gradient, and is counted", "[policy_loss]") {
  const auto estimator = GENERATE(KlEstimator::k2, KlEstimator::k3);
  PolicyTokens tokens{.logprob = row({-1, -300, -1, -900}).set_requires_grad(true),
                      .reference_logprob = row({-1.5, -1, -40, -1}),
                      .advantage = row({0, 0, 0, 0}),
                      .kl = row({1, 1, 1, 1}),
                      .weight = row({1, 1, 1, 0})};
  if (estimator == KlEstimator::k3) {  // e^899 overflows
    CHECK_THROWS_WITH(policy_loss(tokens, {.kl = estimator}),
                      Contains("divergence from the reference of token 3 is inf") && Contains("'loss.kl_clamp'"));
  }
  const PolicyLoss result = policy_loss(tokens, {.kl = estimator, .kl_clamp = 10});
  const double first = estimator == KlEstimator::k2 ? 0.125 : std::exp(-0.5) + 0.5 - 1;
  CHECK(number(result.loss) == Approx(first + 10 + 10));
  CHECK(result.figures.kl_clamped.mean() == Approx(2.0 / 3));
  CHECK(result.figures.kl.mean() == Approx((first + 20) / 3));
  const Tensor gradient = torch::autograd::grad({result.loss}, {tokens.logprob})[0];
  CHECK(number(gradient[0]) == Approx(estimator == KlEstimator::k2 ? 0.5 : 1 - std::exp(-0.5)));
  for (int t = 1; t < 4; ++t) CHECK(number(gradient[t]) == 0);
  CHECK(policy_loss(part_of(tokens, 0, 1), {.kl = estimator}).figures.kl_clamped.count == 0);
  CHECK_THROWS_WITH(policy_loss(tokens, {.kl_clamp = 0}), Contains("KL is clamped at 0"));
}

TEST_CASE("policy_loss: a batch by hand, with tokens of weight 0 in no figure", "[policy_loss]") {
  const PolicyTokens tokens{.logprob = row({-1, -2, -3}).set_requires_grad(true),
                            .old_logprob = row({-1, -2 - std::log(2), -1}),
                            .advantage = row({3, 3, -100}),
                            .weight = row({0.5, 0.25, 0}),
                            .entropy = row({2, 4, 50})};
  const PolicyLoss result = policy_loss(tokens);
  CHECK(number(result.loss) == Approx(0.5 * -3 + 0.25 * -3.6));
  CHECK(result.figures.loss == number(result.loss));
  CHECK(result.figures.ratio.count == 2);
  CHECK(result.figures.ratio.mean() == Approx(1.5));
  CHECK(result.figures.clipped_high.mean() == 0.5);
  CHECK(result.figures.clipped_low.mean() == 0);
  CHECK(result.figures.nll.mean() == Approx(1.5));
  CHECK(result.figures.entropy.mean() == Approx(3));
}

TEST_CASE("policy_loss without old log-probabilities has a ratio of 1 and the gradient of the log-probability",
          "[policy_loss]") {
  const PolicyTokens tokens{
      .logprob = row({-1, -2}).set_requires_grad(true), .advantage = row({3, -5}), .weight = row({0.5, 0.25})};
  const PolicyLoss result = policy_loss(tokens);
  CHECK(number(result.loss) == Approx(0.5 * -3 + 0.25 * 5));
  CHECK(at::allclose(torch::autograd::grad({result.loss}, {tokens.logprob})[0], row({-1.5, 1.25})));
  CHECK(result.figures.ratio.mean() == 1);
}

TEST_CASE("policy_loss: gradients equal finite differences", "[policy_loss]") {
  const auto estimator = GENERATE(KlEstimator::k2, KlEstimator::k3);
  const PolicyLossOptions options{.clip_low = 0.1, .clip_high = 0.3, .kl = estimator};
  const PolicyTokens tokens = random_tokens(40);
  const PolicyLoss result = policy_loss(tokens, options);
  CHECK(result.figures.clipped_low.sum > 0);
  CHECK(result.figures.clipped_high.sum > 0);
  const Tensor gradient = torch::autograd::grad({result.loss}, {tokens.logprob})[0];

  const double step = 1e-6;
  for (std::int64_t t = 0; t < 40; ++t) {
    Tensor nudge = at::zeros({40}, at::kDouble);
    nudge[t] = step;
    PolicyTokens above = tokens, below = tokens;
    above.logprob = tokens.logprob.detach() + nudge;
    below.logprob = tokens.logprob.detach() - nudge;
    const double slope =
        (number(policy_loss(above, options).loss) - number(policy_loss(below, options).loss)) / (2 * step);
    CHECK(number(gradient[t]) == Approx(slope).epsilon(1e-6).margin(1e-8));
  }
}

TEST_CASE("policy_loss: micro-batches add up to the batch however it is cut", "[policy_loss]") {
  const PolicyTokens tokens = random_tokens(37);
  const PolicyLossOptions options{.clip_low = 0.2, .clip_high = 0.28};
  const PolicyLoss whole = policy_loss(tokens, options);
  const Tensor expected = torch::autograd::grad({whole.loss}, {tokens.logprob})[0];
  const auto cuts = GENERATE(
      values<std::vector<std::int64_t>>({{0, 37}, {0, 1, 37}, {0, 12, 24, 37}, {0, 0, 36, 37}, {0, 5, 6, 7, 30, 37}}));

  PolicyLossFigures figures;
  Tensor gradient = at::zeros_like(expected);
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const PolicyLoss part = policy_loss(part_of(tokens, cuts[i], cuts[i + 1]), options);
    gradient += torch::autograd::grad({part.loss}, {tokens.logprob})[0];
    figures += part.figures;
  }
  CHECK(at::allclose(gradient, expected, 1e-12, 1e-15));
  check_equal(figures, whole.figures);
}

TEST_CASE("policy_loss of no tokens is 0", "[policy_loss]") {
  const PolicyTokens none{.logprob = at::zeros({0}).set_requires_grad(true),
                          .old_logprob = at::zeros({0}),
                          .advantage = at::zeros({0}),
                          .weight = at::zeros({0})};
  const PolicyLoss result = policy_loss(none);
  CHECK(number(result.loss) == 0);
  CHECK(result.figures.ratio.mean() == 0);
  CHECK(torch::autograd::grad({result.loss}, {none.logprob})[0].numel() == 0);
}

TEST_CASE("policy_loss says which value is not finite", "[policy_loss]") {
  const double bad = GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity());
  const auto [name, member] =
      GENERATE(table<std::string, Tensor PolicyTokens::*>({{"logprob", &PolicyTokens::logprob},
                                                           {"old_logprob", &PolicyTokens::old_logprob},
                                                           {"reference_logprob", &PolicyTokens::reference_logprob},
                                                           {"advantage", &PolicyTokens::advantage},
                                                           {"kl", &PolicyTokens::kl},
                                                           {"weight", &PolicyTokens::weight},
                                                           {"entropy", &PolicyTokens::entropy}}));
  PolicyTokens tokens = random_tokens(9);
  tokens.*member = (tokens.*member).detach().clone();
  (tokens.*member)[4] = bad;
  CHECK_THROWS_WITH(policy_loss(tokens), Catch::Contains("policy loss: " + name + " of token 4 is"));
}

TEST_CASE("policy_loss refuses what does not fit together", "[policy_loss]") {
  PolicyTokens tokens = random_tokens(5);
  SECTION("another length") {
    tokens.advantage = at::zeros({4}, at::kDouble);
    CHECK_THROWS_WITH(policy_loss(tokens), Catch::Contains("advantage has 4 values in 1 dimensions for 5 tokens"));
  }
  SECTION("a table for a row") {
    tokens.weight = at::zeros({5, 1}, at::kDouble);
    CHECK_THROWS_WITH(policy_loss(tokens), Catch::Contains("weight has 5 values in 2 dimensions"));
  }
  SECTION("another type") {
    tokens.kl = tokens.kl.to(at::kFloat);
    CHECK_THROWS_WITH(policy_loss(tokens), Catch::Contains("kl is Float on cpu"));
  }
  SECTION("no weight") {
    tokens.weight = Tensor();
    CHECK_THROWS_AS(policy_loss(tokens), agon::Error);
  }
  SECTION("a reference without kl, and kl without a reference") {
    PolicyTokens other = tokens;
    tokens.kl = Tensor();
    CHECK_THROWS_WITH(policy_loss(tokens), Catch::Contains("kl is missing"));
    other.reference_logprob = Tensor();
    CHECK_THROWS_WITH(policy_loss(other), Catch::Contains("reference_logprob is missing"));
  }
  SECTION("a clip that is no range") {
    CHECK_THROWS_AS(policy_loss(tokens, {.clip_low = -0.1}), agon::Error);
    CHECK_THROWS_AS(policy_loss(tokens, {.clip_low = 1.1}), agon::Error);
    CHECK_THROWS_AS(policy_loss(tokens, {.clip_high = std::nan("")}), agon::Error);
  }
  SECTION("a ratio that overflows") {
    tokens.old_logprob[2] = -1000;
    CHECK_THROWS_WITH(policy_loss(tokens), Catch::Contains("the ratio to the old policy of token 2 is inf"));
  }
}

TEST_CASE("policy_loss equals TRL's GRPO losses, figures and gradients of the logits", "[policy_loss]") {
  const agon::Json golden = agon::Json::parse(agon::read_file(agon::test::golden_path("policy_loss/trl.json")));
  REQUIRE(golden["cases"].size() == 5);
  for (const agon::Json& c : golden["cases"]) {
    const auto type = c["loss_type"].get<std::string>();
    const double beta = c["beta"].get<double>();
    INFO(type << ", beta " << beta);
    const Tensor logits = tensor_of(c["logits"]).to(at::kFloat).set_requires_grad(true);
    const Tensor ids = tensor_of(c["ids"]).to(at::kLong), lengths = tensor_of(c["lengths"]);
    const Tensor mask = at::arange(ids.size(1), at::kDouble) < lengths.unsqueeze(1);
    const Tensor logprobs = at::log_softmax(logits / c["temperature"].get<double>(), -1);
    const auto of_mask = [&](const Tensor& padded) { return padded.masked_select(mask).to(at::kFloat); };

    PolicyTokens tokens{
        .logprob = of_mask(logprobs.gather(-1, ids.unsqueeze(-1)).squeeze(-1)),
        .old_logprob = of_mask(tensor_of(c["old_logprob"])),
        .advantage = of_mask(tensor_of(c["advantage"])),
        .weight = of_mask(trl_weights(type, lengths, mask, c["max_completion"].get<double>())),
        .entropy = of_mask(-(logprobs.exp() * logprobs).sum(-1)),
    };
    if (beta != 0) {
      tokens.reference_logprob = of_mask(tensor_of(c["reference_logprob"]));
      tokens.kl = at::zeros_like(tokens.weight) + beta;
    }
    const PolicyLoss result =
        policy_loss(tokens, {.clip_low = c["clip_low"].get<double>(), .clip_high = c["clip_high"].get<double>()});
    CHECK(number(result.loss) == Approx(c["loss"].get<double>()).margin(1e-6).epsilon(1e-5));
    CHECK(at::allclose(torch::autograd::grad({result.loss}, {logits})[0].to(at::kDouble),
                       tensor_of(c["logits_gradient"]), 1e-5, 1e-7));
    const agon::Json& figures = c["figures"];
    CHECK(result.figures.clipped_low.mean() == Approx(figures["clip_ratio/low_mean"].get<double>()));
    CHECK(result.figures.clipped_high.mean() == Approx(figures["clip_ratio/high_mean"].get<double>()));
    CHECK(result.figures.entropy.mean() == Approx(figures["entropy"].get<double>()).epsilon(1e-5));
    if (beta != 0) CHECK(result.figures.kl.mean() == Approx(figures["kl"].get<double>()).epsilon(1e-5));
  }
}
