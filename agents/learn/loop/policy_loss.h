// agents/learn/loop/policy_loss.h - the loss that all training methods share, over the trained tokens t of a batch:
//   sum_t w_t * ( -min(r_t A_t, clip(r_t, 1 - low, 1 + high) A_t) + beta_t * KL_t )
// with the ratio r_t = pi(t) / pi_old(t) to the policy that wrote the token and the estimated divergence KL_t of the
// policy from the reference. Methods differ only in A, beta and w (agents/learn/credit/credit.h). Weights are relative
// to the whole batch, so losses, gradients and figures of micro-batches add up to the batch's, however it is split.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace agon::agents {

// With d = ln pi_reference - ln pi: k2 = d^2 / 2, k3 = e^d - d - 1 (unbiased and never negative). k1 = -d is not
// offered: as a loss its gradient is 0 on average, whatever the divergence.
enum class KlEstimator { k2, k3 };

struct PolicyLossOptions {
  double clip_low = 0.2, clip_high = 0.2;  // both at least 0, clip_low at most 1
  KlEstimator kl = KlEstimator::k3;
  // Upper limit of a token's KL, without gradient above it. Nothing: no limit, and KL that overflows is an Error.
  std::optional<double> kl_clamp;
};

// T tokens of any roll-outs in any order; every tensor is [T], of one floating type, on one device. Gradients flow only
// into logprob.
struct PolicyTokens {
  at::Tensor logprob;            // ln pi, nats
  at::Tensor old_logprob;        // ln pi_old; undefined: logprob itself without gradient, a ratio of 1
  at::Tensor reference_logprob;  // ln pi_reference; undefined together with kl: no KL term
  at::Tensor advantage;          // A
  at::Tensor kl;                 // beta
  at::Tensor weight;             // w; 0: not trained, excluded from figures
  at::Tensor entropy;            // nats, for the figures; may be undefined
};

struct RunningMean {
  double sum = 0, count = 0;
  double mean() const { return count > 0 ? sum / count : 0; }
  RunningMean& operator+=(const RunningMean& other);
};

// Figures over the tokens with a weight other than 0. Figures of micro-batches add up.
struct PolicyLossFigures {
  double loss = 0;
  RunningMean ratio;                      // r
  RunningMean clipped_low, clipped_high;  // share of tokens without gradient: r < 1 - low, A < 0; r > 1 + high, A > 0
  RunningMean kl;                         // KL without the factor beta; empty without a reference
  RunningMean kl_clamped;                 // share of tokens whose KL was clamped; empty without a clamp
  RunningMean nll;                        // -ln pi: the loss of methods that imitate
  RunningMean entropy;                    // empty if the tensor is undefined
  PolicyLossFigures& operator+=(const PolicyLossFigures& other);
};

struct PolicyLoss {
  at::Tensor loss;  // scalar, float64: the plain sum above; 0 for T = 0
  PolicyLossFigures figures;
};
// Throws Error for tensors that are missing or of different lengths or types, and for a value that is not finite,
// including a ratio or a divergence that overflows; the message names the tensor, the token and the value.
PolicyLoss policy_loss(const PolicyTokens& tokens, const PolicyLossOptions& options = {});

}  // namespace agon::agents
