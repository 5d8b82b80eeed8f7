#include "agents/learn/loop/policy_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/minimum.h>

#include "core/error.h"

namespace agon::agents {
namespace {

using at::Tensor;

void check_shape(const char* name, const Tensor& values, const Tensor& logprob) {
  if (values.dim() != 1 || values.numel() != logprob.numel())
    throw Error("policy loss: {} has {} values in {} dimensions for {} tokens. Every tensor has one value a token.",
                name, values.numel(), values.dim(), logprob.numel());
  if (values.scalar_type() != logprob.scalar_type() || values.device() != logprob.device())
    throw Error("policy loss: {} is {} on {}, logprob {} on {}. Convert it first.", name,
                at::toString(values.scalar_type()), values.device().str(), at::toString(logprob.scalar_type()),
                logprob.device().str());
}

void check_finite(const char* name, const Tensor& values,
                  const char* advice = "Has an earlier step spoilt the weights? Lower its learning rate.") {
  const Tensor wrong = at::isfinite(values).logical_not();
  if (!wrong.any().item<bool>()) return;
  const std::int64_t token = wrong.nonzero()[0].item<std::int64_t>();
  throw Error("policy loss: {} of token {} is {}. {}", name, token, values[token].item<double>(), advice);
}

void check_values(const char* name, const Tensor& values, const Tensor& logprob) {
  if (!values.defined()) return;
  check_shape(name, values, logprob);
  check_finite(name, values);
}

void check(const PolicyTokens& tokens, const PolicyLossOptions& options) {
  if (!tokens.logprob.defined() || !tokens.advantage.defined() || !tokens.weight.defined())
    throw Error("policy loss: logprob, advantage and weight are needed, one value a token");
  if (tokens.reference_logprob.defined() != tokens.kl.defined())
    throw Error("policy loss: {} is missing. A divergence needs the reference's log-probabilities and its weights kl.",
                tokens.kl.defined() ? "reference_logprob" : "kl");
  if (options.kl_clamp && !(*options.kl_clamp > 0))
    throw Error("policy loss: KL is clamped at {}. Choose a number above 0.", *options.kl_clamp);
  if (!(options.clip_low >= 0 && options.clip_low <= 1 && options.clip_high >= 0))
    throw Error("policy loss: the ratio is clipped to [1 - {}, 1 + {}]. Choose 0 <= low <= 1 and 0 <= high.",
                options.clip_low, options.clip_high);
  check_values("logprob", tokens.logprob, tokens.logprob);
  check_values("old_logprob", tokens.old_logprob, tokens.logprob);
  check_values("reference_logprob", tokens.reference_logprob, tokens.logprob);
  check_values("advantage", tokens.advantage, tokens.logprob);
  check_values("kl", tokens.kl, tokens.logprob);
  check_values("weight", tokens.weight, tokens.logprob);
  check_values("entropy", tokens.entropy, tokens.logprob);
}

// KL of each token, and which of them were clamped (undefined: no clamp).
struct Divergence {
  Tensor kl, clamped;
};

Divergence divergence(const PolicyTokens& tokens, const PolicyLossOptions& options) {
  constexpr double kFurthest = 20;  // limit of |d|: e^20 and its gradient stay finite where the clamp masks them
  const Tensor difference = tokens.reference_logprob.detach() - tokens.logprob;
  const Tensor d = options.kl_clamp ? difference.clamp(-kFurthest, kFurthest) : difference;
  const Tensor kl = options.kl == KlEstimator::k2 ? d.square() / 2 : d.expm1() - d;
  if (!options.kl_clamp) return {kl, {}};
  return {kl.clamp_max(*options.kl_clamp), (kl > *options.kl_clamp).logical_or(difference.abs() > kFurthest)};
}

RunningMean mean_of(const Tensor& values, const Tensor& counted, double count) {
  return {(values * counted).sum(at::kDouble).item<double>(), count};
}

PolicyLossFigures figures_of(const PolicyTokens& tokens, const PolicyLossOptions& options, const Tensor& ratio,
                             const Divergence& divergence) {
  const at::NoGradGuard no_grad;
  const Tensor counted = tokens.weight != 0, &advantage = tokens.advantage;
  const double count = counted.sum().item<double>();
  PolicyLossFigures figures;
  figures.ratio = mean_of(ratio, counted, count);
  figures.clipped_low = mean_of((ratio < 1 - options.clip_low).logical_and(advantage < 0), counted, count);
  figures.clipped_high = mean_of((ratio > 1 + options.clip_high).logical_and(advantage > 0), counted, count);
  figures.nll = mean_of(-tokens.logprob, counted, count);
  if (divergence.kl.defined()) figures.kl = mean_of(divergence.kl, counted, count);
  if (divergence.clamped.defined()) figures.kl_clamped = mean_of(divergence.clamped, counted, count);
  if (tokens.entropy.defined()) figures.entropy = mean_of(tokens.entropy, counted, count);
  return figures;
}

}  // namespace

RunningMean& RunningMean::operator+=(const RunningMean& other) {
  sum += other.sum;
  count += other.count;
  return *this;
}

PolicyLossFigures& PolicyLossFigures::operator+=(const PolicyLossFigures& other) {
  loss += other.loss;
  ratio += other.ratio;
  clipped_low += other.clipped_low;
  clipped_high += other.clipped_high;
  nll += other.nll;
  kl += other.kl;
  kl_clamped += other.kl_clamped;
  entropy += other.entropy;
  return *this;
}

PolicyLoss policy_loss(const PolicyTokens& tokens, const PolicyLossOptions& options) {
  check(tokens, options);
  const Tensor old = tokens.old_logprob.defined() ? tokens.old_logprob : tokens.logprob;
  const Tensor ratio = (tokens.logprob - old.detach()).exp(), &advantage = tokens.advantage;
  check_finite("the ratio to the old policy", ratio);
  Divergence found;
  Tensor losses = -at::minimum(ratio * advantage, ratio.clamp(1 - options.clip_low, 1 + options.clip_high) * advantage);
  if (tokens.kl.defined()) {
    found = divergence(tokens, options);
    check_finite("the divergence from the reference", found.kl,
                 "Has an earlier step spoilt the weights? Lower its learning rate, or set 'loss.kl_clamp', as to 10.");
    losses = losses + tokens.kl * found.kl;
  }

  PolicyLoss result{(tokens.weight * losses).sum(at::kDouble), figures_of(tokens, options, ratio, found)};
  result.figures.loss = result.loss.item<double>();
  return result;
}

}  // namespace agon::agents
