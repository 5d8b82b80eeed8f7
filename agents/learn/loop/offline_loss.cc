#include "agents/learn/loop/offline_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <map>
#include <numeric>

#include "core/error.h"

namespace agon::agents {
namespace {

// [N]: the mean of each response's tokens.
at::Tensor response_means(const at::Tensor& values, const at::Tensor& owner, const at::Tensor& lengths) {
  return at::zeros({lengths.size(0)}, values.options()).index_add(0, owner, values) / lengths.to(values.scalar_type());
}

at::Tensor flags(const std::vector<bool>& imitated, bool wanted, const at::TensorOptions& options) {
  std::vector<double> values;
  for (const bool one : imitated) values.push_back(one == wanted ? 1 : 0);
  return at::tensor(values).to(options.dtype());
}

void check(const OfflineTokens& tokens) {
  const std::int64_t all = std::accumulate(tokens.lengths.begin(), tokens.lengths.end(), std::int64_t{0});
  const std::size_t responses = tokens.lengths.size();
  if (all != tokens.logprob.size(0) || all != tokens.reference_logprob.size(0) ||
      tokens.advantage.size() != responses || tokens.imitated.size() != responses)
    throw Error(
        "offline loss: {} responses of {} tokens, with {} log-probabilities, {} of the reference, {} advantages.",
        responses, all, tokens.logprob.size(0), tokens.reference_logprob.size(0), tokens.advantage.size());
}

}  // namespace

OfflineLoss offline_loss(const OfflineTokens& tokens, const OfflineLossOptions& options) {
  check(tokens);
  const auto kind = tokens.logprob.options();
  OfflineLoss result{at::zeros({}, kind), {}};
  if (tokens.lengths.empty()) return result;
  const at::Tensor lengths = at::tensor(tokens.lengths, at::kLong);
  const at::Tensor owner = at::repeat_interleave(lengths);
  const at::Tensor played = flags(tokens.imitated, false, kind), imitated = flags(tokens.imitated, true, kind);
  const double players = played.sum().item<double>(), imitators = imitated.sum().item<double>();

  const at::Tensor difference = tokens.reference_logprob - tokens.logprob;
  const at::Tensor mean = response_means(tokens.logprob, owner, lengths);
  // The reference is unknown for imitated responses: their ratio is 1.
  const at::Tensor ratio = at::exp(-response_means(difference, owner, lengths) * played);
  const at::Tensor advantage = at::tensor(tokens.advantage).to(kind.dtype()) * played;
  const at::Tensor clipped = at::clamp(ratio, 1 - options.clip, 1 + options.clip);
  const at::Tensor gain = at::minimum(ratio * advantage, clipped * advantage);
  const at::Tensor token_played = played.index_select(0, owner);
  const at::Tensor kl =
      response_means((at::exp(difference * token_played) - difference * token_played - 1), owner, lengths);
  if (players > 0) result.loss = result.loss + ((options.kl * kl - gain) * played).sum() / players;
  if (imitators > 0) result.loss = result.loss - options.imitation_weight * (mean * imitated).sum() / imitators;

  OfflineLossFigures& figures = result.figures;
  figures.loss = result.loss.item<double>();
  if (!std::isfinite(figures.loss))
    throw Error(
        "offline loss: the loss is {}. Lower the learning rate, or look for responses that the reference gives "
        "no probability.",
        figures.loss);
  if (players > 0) {
    figures.ratio = (ratio * played).sum().item<double>() / players;
    figures.clipped = ((ratio * advantage > clipped * advantage) * played).sum().item<double>() / players;
    figures.kl = (kl * played).sum().item<double>() / players;
  }
  if (imitators > 0) figures.imitation = -(mean * imitated).sum().item<double>() / imitators;
  return result;
}

std::vector<double> group_baseline(std::span<const double> rewards, std::span<const std::int64_t> groups) {
  std::map<std::int64_t, std::pair<double, double>> sums;
  for (std::size_t i = 0; i < rewards.size(); ++i) {
    auto& [sum, count] = sums[groups[i]];
    sum += rewards[i];
    ++count;
  }
  std::vector<double> advantages;
  for (std::size_t i = 0; i < rewards.size(); ++i)
    advantages.push_back(rewards[i] - sums.at(groups[i]).first / sums.at(groups[i]).second);
  return advantages;
}

}  // namespace agon::agents
