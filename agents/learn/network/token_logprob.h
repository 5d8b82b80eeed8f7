// agents/learn/network/token_logprob.h - log-probabilities of given tokens and the entropies of their distributions
// from hidden states and the LM head, with gradients into both, without the logits [T, V] in memory
// (kernels/token_logprob). Letters: T tokens, H width of a hidden state, V vocabulary.
#pragma once

#include <ATen/core/Tensor.h>

namespace agon::agents {

struct TokenLogprobs {
  at::Tensor logprob, entropy;  // [T], nats; float32, or float64 for float64 inputs
};

// Log-probabilities of ids [T] (int64) under softmax(hidden head^T / temperature), with hidden [T, H] and head [V, H]
// of one floating type on one device. fp32 goes through the kernels of its device; other types are processed in pieces
// (token_logprob_pieces.h), with sums in float32 for half types. Values that are not finite propagate to the results.
// Second derivatives are not supported. Throws Error for shapes, types and ids that do not fit, and for a temperature
// that is not positive.
TokenLogprobs token_logprobs(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& ids,
                             double temperature = 1);

}  // namespace agon::agents
