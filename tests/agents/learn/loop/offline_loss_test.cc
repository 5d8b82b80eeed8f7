#include "agents/learn/loop/offline_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <numeric>

#include "core/rng.h"
#include "torch_catch.h"

using namespace agon;
using namespace agon::agents;

namespace {

at::Tensor doubles(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

OfflineTokens random_tokens(Rng& rng, int responses) {
  OfflineTokens tokens;
  std::vector<double> logprob, reference;
  for (int i = 0; i < responses; ++i) {
    tokens.lengths.push_back(rng.between(1, 6));
    tokens.advantage.push_back(rng.normal());
    tokens.imitated.push_back(rng.chance(0.3));
    for (std::int64_t t = 0; t < tokens.lengths.back(); ++t) {
      logprob.push_back(-rng.uniform() * 2);
      reference.push_back(logprob.back() + 0.4 * rng.normal());
    }
  }
  tokens.logprob = doubles(logprob);
  tokens.reference_logprob = doubles(reference);
  return tokens;
}

// The formula in plain doubles.
double plain_loss(const OfflineTokens& tokens, const OfflineLossOptions& options) {
  double played = 0, players = 0, imitated = 0, imitators = 0;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < tokens.lengths.size(); ++i) {
    double mean = 0, reference = 0, kl = 0;
    const auto length = static_cast<double>(tokens.lengths[i]);
    for (std::int64_t t = 0; t < tokens.lengths[i]; ++t, ++at) {
      const double p = tokens.logprob[at].item<double>(), q = tokens.reference_logprob[at].item<double>();
      mean += p / length;
      reference += q / length;
      kl += (std::exp(q - p) - (q - p) - 1) / length;
    }
    if (tokens.imitated[i]) {
      imitated -= mean;
      ++imitators;
      continue;
    }
    const double r = std::exp(mean - reference), a = tokens.advantage[i];
    const double clipped = std::min(std::max(r, 1 - options.clip), 1 + options.clip);
    played += -std::min(r * a, clipped * a) + options.kl * kl;
    ++players;
  }
  return (players > 0 ? played / players : 0) + (imitators > 0 ? options.imitation_weight * imitated / imitators : 0);
}

}  // namespace

TEST_CASE("The offline loss is its formula") {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    const OfflineTokens tokens = random_tokens(rng, rng.between(0, 6));
    const OfflineLossOptions options{rng.uniform() / 2, rng.chance(0.5) ? 0.1 : 0, rng.uniform()};
    const OfflineLoss result = offline_loss(tokens, options);
    REQUIRE(result.loss.item<double>() == Approx(plain_loss(tokens, options)).margin(1e-12));
    REQUIRE(result.figures.loss == Approx(result.loss.item<double>()));
  }
}

TEST_CASE("One response by hand") {
  // mean ln pi = -1, mean ln reference = -1.5: r = e^0.5 = 1.6487, clipped at 1.2.
  OfflineTokens tokens{doubles({-0.5, -1.5}), doubles({-1, -2}), {2}, {1}, {false}};
  CHECK(offline_loss(tokens).loss.item<double>() == Approx(-1.2));
  CHECK(offline_loss(tokens).figures.clipped == 1);
  tokens.advantage = {-1};
  CHECK(offline_loss(tokens).loss.item<double>() == Approx(std::exp(0.5)));
  CHECK(offline_loss(tokens).figures.clipped == 0);
  CHECK(offline_loss(tokens, {.kl = 0.1}).figures.kl == Approx(std::exp(-0.5) + 0.5 - 1));
  tokens.imitated = {true};
  CHECK(offline_loss(tokens).loss.item<double>() == Approx(0.15));
}

TEST_CASE("A clipped response has no gradient, and the reference none at all") {
  OfflineTokens tokens{doubles({-0.5, -1.5, -0.3}), doubles({-1, -2, -0.3}), {2, 1}, {1, 1}, {false, false}};
  tokens.logprob.requires_grad_();
  tokens.reference_logprob.requires_grad_();
  offline_loss(tokens).loss.backward();
  CHECK(tokens.logprob.grad()[0].item<double>() == 0);
  CHECK(tokens.logprob.grad()[2].item<double>() == Approx(-0.5));  // -A r / N
}

TEST_CASE("The gradient is that of finite differences") {
  Rng rng(4);
  for (int round = 0; round < 20; ++round) {
    OfflineTokens tokens = random_tokens(rng, 4);
    const OfflineLossOptions options{0.2, 0.1, 0.15};
    tokens.logprob.requires_grad_();
    offline_loss(tokens, options).loss.backward();
    const at::Tensor gradient = tokens.logprob.grad();
    for (std::int64_t at = 0; at < tokens.logprob.size(0); ++at) {
      const auto moved = [&](double by) {
        OfflineTokens other = tokens;
        other.logprob = tokens.logprob.detach().clone();
        other.logprob[at] += by;
        return plain_loss(other, options);
      };
      const double slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
      REQUIRE(gradient[at].item<double>() == Approx(slope).margin(1e-6));
    }
  }
}

TEST_CASE("Bad tokens are refused") {
  OfflineTokens tokens{doubles({-0.5}), doubles({-1}), {2}, {1}, {false}};
  CHECK_THROWS_WITH(offline_loss(tokens), Catch::Contains("1 responses of 2 tokens, with 1 log-probabilities"));
  tokens = {doubles({std::nan("")}), doubles({-1}), {1}, {1}, {false}};
  CHECK_THROWS_WITH(offline_loss(tokens), Catch::Contains("the loss is nan"));
}

TEST_CASE("A group's baseline is its own mean") {
  const std::vector<double> rewards = {1, -1, 1, 1, -1};
  const std::vector<std::int64_t> groups = {7, 7, 7, 7, 2};
  const auto advantages = group_baseline(rewards, groups);
  CHECK(advantages == std::vector<double>{0.5, -1.5, 0.5, 0.5, 0});
}
