// agents/learn/loop/offline_loss.h - the loss of offline self-play (SPC): over complete recorded responses, each with
// one advantage.
//   r_i = exp(mean_t ln pi(t) - mean_t ln pi_reference(t))        over the tokens t of response i
//   L   = mean over played i of ( -min(r_i A_i, clip(r_i, 1 - c, 1 + c) A_i) + beta mean_t KL_t )
//       + s x mean over imitated i of ( -mean_t ln pi(t) )
// r_i is a geometric mean, so long and short responses weigh the same. The reference is the model that the training
// starts from. SPC's published code takes the reward itself as A, with beta 0 (its KL flag is unused); the paper has a
// baseline and KL. Both are supported (docs/critic.md).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "agents/learn/loop/offline_options.h"

namespace agon::agents {

// T tokens of N responses, one after another. Gradients flow only into logprob.
struct OfflineTokens {
  at::Tensor logprob;                 // [T] ln pi, nats
  at::Tensor reference_logprob;       // [T] for played responses; ignored for imitated ones
  std::vector<std::int64_t> lengths;  // [N] tokens of each; at least 1
  std::vector<double> advantage;      // [N] A; ignored for imitated ones
  std::vector<bool> imitated;         // [N]
};

struct OfflineLoss {
  at::Tensor loss;  // scalar; 0 for N = 0
  OfflineLossFigures figures;
};
// Throws Error for lengths that do not add up to T and for a value that is not finite.
OfflineLoss offline_loss(const OfflineTokens& tokens, const OfflineLossOptions& options = {});

// Rewards minus the mean of their group, in the given order; critiques of one step have the same group number.
std::vector<double> group_baseline(std::span<const double> rewards, std::span<const std::int64_t> groups);

}  // namespace agon::agents
