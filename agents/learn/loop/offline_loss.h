// agents/learn/loop/offline_loss.h - the loss of offline self-play (SPC): whole responses that were written
// and judged before, each with one advantage.
//   r_i = exp(mean_t ln pi(t) - mean_t ln pi_reference(t))        over the tokens t of response i
//   L   = mean over played i of ( -min(r_i A_i, clip(r_i, 1 - c, 1 + c) A_i) + beta mean_t KL_t )
//       + s x mean over imitated i of ( -mean_t ln pi(t) )
// r_i is a geometric mean, so long and short responses weigh the same. The reference is the model that the training
// starts from. Published code: A is the reward itself, beta 0 (the flag is there and unused); published text: a
// baseline and KL. Both are offered; docs/critic.md.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "agents/learn/loop/offline_options.h"

namespace agon::agents {

// T tokens of N responses, one behind the other. Gradients flow into logprob alone.
struct OfflineTokens {
  at::Tensor logprob;                 // [T] ln pi, nats
  at::Tensor reference_logprob;       // [T] of played responses; of imitated ones anything
  std::vector<std::int64_t> lengths;  // [N] tokens of each; at least 1
  std::vector<double> advantage;      // [N] A; of imitated ones not read
  std::vector<bool> imitated;         // [N]
};

struct OfflineLoss {
  at::Tensor loss;  // scalar; 0 for N = 0
  OfflineLossFigures figures;
};
// Throws Error for lengths that do not add up to T and for a value that is not finite.
OfflineLoss offline_loss(const OfflineTokens& tokens, const OfflineLossOptions& options = {});

// Rewards less the mean of their group's, in the order given: critiques of one step have the same number.
std::vector<double> group_baseline(std::span<const double> rewards, std::span<const std::int64_t> groups);

}  // namespace agon::agents
