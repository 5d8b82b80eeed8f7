// kernels/token_logprob/token_logprob.h - log-probabilities of given tokens and the entropies of their distributions,
// straight from hidden states and the LM head, with their gradients: the logits [T, V] never stand in memory. With
//   z_t = head hidden_t / temperature:  logprob_t = z_t[id_t] - ln sum_v e^z_t[v],  entropy_t = -sum_v p_v ln p_v.
// Letters: T tokens, H width of a hidden state, V vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/parallel.h"

namespace agon::kernels {

template <typename Real>
struct TokenLogprobInput {
  const Real* hidden = nullptr;       // [T, H]
  const Real* head = nullptr;         // [V, H]
  const std::int64_t* ids = nullptr;  // [T], each in [0, V)
  std::int64_t tokens = 0, width = 0, vocabulary = 0;
  Real inverse_temperature = 1;
};
template <typename Real>
struct TokenLogprobOutput {  // each [T]
  Real* logprob = nullptr;   // nats, as the entropy
  Real* entropy = nullptr;
  Real* log_sum = nullptr;  // ln sum_v e^z_t[v], for the backward pass
};
template <typename Real>
struct TokenLogprobGradient {
  const Real *log_sum = nullptr, *entropy = nullptr;  // [T], of the forward pass
  const Real* d_logprob = nullptr;                    // [T], of the loss
  const Real* d_entropy = nullptr;                    // [T], or null: all 0
  Real* d_hidden = nullptr;                           // [T, H], written; null: not wanted
  Real* d_head = nullptr;                             // [V, H], written; null: not wanted
};

// fp32. In addition to its results, a call holds at most 4 (512 H + 6 V) bytes forward and 4 (1536 H + 275,000)
// backward, whatever T. The backward pass computes the logits again. No bit depends on `parallel`. A NaN among the
// numbers of a token, or a logit that overflows, gives it a log-probability of NaN. REQUIRES: width, vocabulary > 0.
void token_logprob(const TokenLogprobInput<float>& input, const TokenLogprobOutput<float>& output,
                   const ParallelFor& parallel = {});
void token_logprob_backward(const TokenLogprobInput<float>& input, const TokenLogprobGradient<float>& gradient,
                            const ParallelFor& parallel = {});

namespace reference {  // plain loops in double
void token_logprob(const TokenLogprobInput<double>& input, const TokenLogprobOutput<double>& output);
void token_logprob_backward(const TokenLogprobInput<double>& input, const TokenLogprobGradient<double>& gradient);
}  // namespace reference

namespace cuda {  // pointers of the device; each returns the launches' cudaError_t, 0 for success
std::size_t token_logprob_workspace(std::int64_t tokens);  // bytes of scratch memory that either call needs
int token_logprob(const TokenLogprobInput<float>& input, const TokenLogprobOutput<float>& output, void* workspace,
                  void* stream);
int token_logprob_backward(const TokenLogprobInput<float>& input, const TokenLogprobGradient<float>& gradient,
                           void* workspace, void* stream);
}  // namespace cuda

}  // namespace agon::kernels
