// kernels/token_logprob/token_logprob.h - log-probabilities of given tokens and the entropies of their distributions,
// with gradients, computed directly from hidden states and the LM head. The logits [T, V] are never stored. With
//   z_t = head hidden_t / temperature:  logprob_t = z_t[id_t] - ln sum_v e^z_t[v],  entropy_t = -sum_v p_v ln p_v.
// T: tokens, H: width of a hidden state, V: vocabulary.
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
  Real* logprob = nullptr;   // in nats, like the entropy
  Real* entropy = nullptr;
  Real* log_sum = nullptr;  // ln sum_v e^z_t[v], for the backward pass
};
template <typename Real>
struct TokenLogprobGradient {
  const Real *log_sum = nullptr, *entropy = nullptr;  // [T], from the forward pass
  const Real* d_logprob = nullptr;                    // [T], gradient of the loss
  const Real* d_entropy = nullptr;                    // [T], or null: all 0
  Real* d_hidden = nullptr;                           // [T, H], overwritten; null: not computed
  Real* d_head = nullptr;                             // [V, H], overwritten; null: not computed
};

// fp32. In addition to its results, a call uses about 4 (512 H + 6 V) bytes and 32 KB per thread forward, and
// 4 (1536 H + 275,000) bytes backward, for any T. The backward pass computes the logits again. Results are the same to
// the bit for every `parallel`. If a number of a token is NaN or one of its logits is +infinity, its log-probability is
// NaN; if one is -infinity, its entropy is NaN. REQUIRES: width, vocabulary > 0.
void token_logprob(const TokenLogprobInput<float>& input, const TokenLogprobOutput<float>& output,
                   const ParallelFor& parallel = {});
void token_logprob_backward(const TokenLogprobInput<float>& input, const TokenLogprobGradient<float>& gradient,
                            const ParallelFor& parallel = {});

namespace reference {  // plain loops in double
void token_logprob(const TokenLogprobInput<double>& input, const TokenLogprobOutput<double>& output);
void token_logprob_backward(const TokenLogprobInput<double>& input, const TokenLogprobGradient<double>& gradient);
}  // namespace reference

namespace cuda {  // takes device pointers; returns the cudaError_t of the launches, 0 for success
std::size_t token_logprob_workspace(std::int64_t tokens);  // bytes of scratch memory that either call needs
int token_logprob(const TokenLogprobInput<float>& input, const TokenLogprobOutput<float>& output, void* workspace,
                  void* stream);
int token_logprob_backward(const TokenLogprobInput<float>& input, const TokenLogprobGradient<float>& gradient,
                           void* workspace, void* stream);
}  // namespace cuda

}  // namespace agon::kernels
