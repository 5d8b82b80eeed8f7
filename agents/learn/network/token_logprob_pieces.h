// agents/learn/network/token_logprob_pieces.h - computes token_logprobs with ATen operations, for types and devices
// without a kernel. It holds the logits of only a few tokens at a time. Letters as in token_logprob.h.
#pragma once

#include <ATen/core/Tensor.h>

namespace agon::agents {

struct TokenLogprobTask {
  at::Tensor hidden, head, ids;  // [T, H], [V, H], [T]; contiguous
  double temperature = 1;
};
// Each [T]: results of the forward pass, or gradients of a loss with respect to logprob and entropy.
struct TokenLogprobRows {
  at::Tensor logprob, entropy;
  at::Tensor log_sum;  // ln sum over v of e^(logit / temperature)
};
struct TokenLogprobSlopes {
  at::Tensor hidden, head;  // [T, H], [V, H]
};

// A piece is at most 2^24 logits on the CPU, 2^27 on a GPU. Rows and sums are float32 for half types.
TokenLogprobRows token_logprob_by_pieces(const TokenLogprobTask& task);
// upstream.entropy may be undefined (all 0). Returns only the wanted gradients and leaves the others undefined.
TokenLogprobSlopes token_logprob_backward_by_pieces(const TokenLogprobTask& task, const TokenLogprobRows& rows,
                                                    const TokenLogprobRows& upstream, bool hidden_wanted,
                                                    bool head_wanted);

}  // namespace agon::agents
