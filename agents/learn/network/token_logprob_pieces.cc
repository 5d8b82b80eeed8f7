#include "agents/learn/network/token_logprob_pieces.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <functional>

namespace agon::agents {
namespace {

using at::Tensor;

at::ScalarType wide_type(const Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

void for_pieces(const TokenLogprobTask& task, const std::function<void(std::int64_t first, std::int64_t count)>& body) {
  const std::int64_t logits = std::int64_t{1} << (task.hidden.is_cpu() ? 24 : 27);
  const std::int64_t tokens = task.hidden.size(0), piece = std::max<std::int64_t>(1, logits / task.head.size(0));
  for (std::int64_t first = 0; first < tokens; first += piece) body(first, std::min(piece, tokens - first));
}

Tensor scaled_logits(const TokenLogprobTask& task, const Tensor& hidden) {
  return at::mm(hidden, task.head.t()).to(wide_type(hidden)).div_(task.temperature);
}

// Gradient of the loss with respect to the logits of `count` tokens from `first` on.
Tensor slopes_of(const TokenLogprobTask& task, const TokenLogprobRows& rows, const TokenLogprobRows& upstream,
                 std::int64_t first, std::int64_t count) {
  const auto column = [&](const Tensor& values) { return values.narrow(0, first, count).unsqueeze(1); };
  const Tensor log_p = scaled_logits(task, task.hidden.narrow(0, first, count)).sub_(column(rows.log_sum));
  Tensor slopes = log_p.exp().neg_();
  if (upstream.entropy.defined())
    slopes.mul_((log_p + column(rows.entropy)).mul_(column(upstream.entropy)).add_(column(upstream.logprob)));
  else
    slopes.mul_(column(upstream.logprob));
  slopes.scatter_add_(1, column(task.ids), column(upstream.logprob));
  return slopes.div_(task.temperature).to(task.hidden.scalar_type());
}

}  // namespace

TokenLogprobRows token_logprob_by_pieces(const TokenLogprobTask& task) {
  const Tensor empty = at::empty({task.hidden.size(0)}, task.hidden.options().dtype(wide_type(task.hidden)));
  TokenLogprobRows rows{empty, at::empty_like(empty), at::empty_like(empty)};
  for_pieces(task, [&](std::int64_t first, std::int64_t count) {
    Tensor log_p = scaled_logits(task, task.hidden.narrow(0, first, count));
    const Tensor log_sum = at::logsumexp(log_p, 1);
    log_p.sub_(log_sum.unsqueeze(1));
    rows.log_sum.narrow(0, first, count).copy_(log_sum);
    rows.logprob.narrow(0, first, count)
        .copy_(log_p.gather(1, task.ids.narrow(0, first, count).unsqueeze(1)).squeeze(1));
    rows.entropy.narrow(0, first, count).copy_(log_p.exp().mul_(log_p).sum(1).neg_());
  });
  return rows;
}

TokenLogprobSlopes token_logprob_backward_by_pieces(const TokenLogprobTask& task, const TokenLogprobRows& rows,
                                                    const TokenLogprobRows& upstream, bool hidden_wanted,
                                                    bool head_wanted) {
  TokenLogprobSlopes to;
  if (hidden_wanted) to.hidden = at::empty_like(task.hidden);
  if (head_wanted) to.head = at::zeros(task.head.sizes(), task.head.options().dtype(wide_type(task.head)));
  for_pieces(task, [&](std::int64_t first, std::int64_t count) {
    const Tensor slopes = slopes_of(task, rows, upstream, first, count);
    if (hidden_wanted) to.hidden.narrow(0, first, count).copy_(at::mm(slopes, task.head));
    if (head_wanted) to.head.add_(at::mm(slopes.t(), task.hidden.narrow(0, first, count)));
  });
  if (head_wanted) to.head = to.head.to(task.head.scalar_type());
  return to;
}

}  // namespace agon::agents
