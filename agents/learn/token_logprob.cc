#include "agents/learn/token_logprob.h"
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gather.h>
namespace agon::agents {
TokenLogprobs token_logprobs(const at::Tensor& hidden, const at::Tensor& lm_head, const at::Tensor& ids, double temperature) {
  const at::Tensor p = at::log_softmax(at::linear(hidden, lm_head) / temperature, -1);
  return {p.gather(1, ids.unsqueeze(1)).squeeze(1), -(p.exp() * p).sum(-1)};
}
}
