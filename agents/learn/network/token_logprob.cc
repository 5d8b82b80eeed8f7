#include "agents/learn/network/token_logprob.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/DeviceGuard.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "agents/learn/network/token_logprob_pieces.h"
#include "core/error.h"
#include "kernels/token_logprob/token_logprob.h"

namespace agon::agents {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::tensor_list;

#ifdef AGON_CUDA
constexpr bool kHasCuda = true;
#else
constexpr bool kHasCuda = false;
#endif

void check(const Tensor& hidden, const Tensor& head, const Tensor& ids, double temperature) {
  if (hidden.dim() != 2 || head.dim() != 2 || hidden.size(1) != head.size(1) || head.numel() == 0)
    throw Error(
        "token log-probabilities: {} numbers in {} dimensions do not go with an LM head of {} in {}. Give hidden "
        "states [T, H] and a head [V, H].",
        hidden.numel(), hidden.dim(), head.numel(), head.dim());
  if (ids.dim() != 1 || ids.size(0) != hidden.size(0) || ids.scalar_type() != at::kLong)
    throw Error("token log-probabilities: {} {} ids in {} dimensions for {} hidden states. Give one int64 for each.",
                ids.numel(), at::toString(ids.scalar_type()), ids.dim(), hidden.size(0));
  if (!at::isFloatingType(hidden.scalar_type()) || hidden.scalar_type() != head.scalar_type() ||
      hidden.device() != head.device() || hidden.device() != ids.device())
    throw Error(
        "token log-probabilities: hidden states of {} on {} with a head of {} on {} and ids on {}. Convert one.",
        at::toString(hidden.scalar_type()), hidden.device().str(), at::toString(head.scalar_type()),
        head.device().str(), ids.device().str());
  if (!(temperature > 0) || std::isinf(temperature))
    throw Error("token log-probabilities: the temperature is {}. Give a positive one.", temperature);
  if (ids.numel() > 0 && (ids.min().item<std::int64_t>() < 0 || ids.max().item<std::int64_t>() >= head.size(0)))
    throw Error("token log-probabilities: ids from {} to {} in a vocabulary of {}. Does the tokenizer fit the model?",
                ids.min().item<std::int64_t>(), ids.max().item<std::int64_t>(), head.size(0));
}

bool has_kernel(const Tensor& hidden) {
  return hidden.scalar_type() == at::kFloat && (hidden.is_cpu() || (kHasCuda && hidden.is_cuda()));
}

kernels::TokenLogprobInput<float> kernel_input(const TokenLogprobTask& task) {
  return {task.hidden.const_data_ptr<float>(),
          task.head.const_data_ptr<float>(),
          task.ids.const_data_ptr<std::int64_t>(),
          task.hidden.size(0),
          task.hidden.size(1),
          task.head.size(0),
          static_cast<float>(1 / task.temperature)};
}

void on_threads(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) {
  at::parallel_for(0, count, 1, body);
}

// Calls launch(workspace, stream) on the device of `hidden`.
template <typename Launch>
void on_device(const Tensor& hidden, const Launch& launch) {
  const c10::DeviceGuard guard(hidden.device());
  const auto bytes = static_cast<std::int64_t>(kernels::cuda::token_logprob_workspace(hidden.size(0)));
  const Tensor workspace = at::empty({bytes}, hidden.options().dtype(at::kByte));
  const c10::impl::VirtualGuardImpl device(hidden.device().type());
  if (const int code = launch(workspace.data_ptr(), device.getStream(hidden.device()).native_handle()))
    throw Error("token log-probabilities: the GPU refuses the kernel, CUDA error {}. Is it of sm_80 or sm_90?", code);
}

TokenLogprobRows run_forward(const TokenLogprobTask& task) {
  if (!has_kernel(task.hidden)) return token_logprob_by_pieces(task);
  const Tensor empty = at::empty({task.hidden.size(0)}, task.hidden.options());
  const TokenLogprobRows rows{empty, at::empty_like(empty), at::empty_like(empty)};
  const auto input = kernel_input(task);
  const kernels::TokenLogprobOutput<float> output{rows.logprob.mutable_data_ptr<float>(),
                                                  rows.entropy.mutable_data_ptr<float>(),
                                                  rows.log_sum.mutable_data_ptr<float>()};
  if constexpr (kHasCuda)
    if (task.hidden.is_cuda()) {
      on_device(task.hidden, [&](void* workspace, void* stream) {
        return kernels::cuda::token_logprob(input, output, workspace, stream);
      });
      return rows;
    }
  kernels::token_logprob(input, output, on_threads);
  return rows;
}

float* data_or_null(const Tensor& tensor) { return tensor.defined() ? tensor.mutable_data_ptr<float>() : nullptr; }

TokenLogprobSlopes run_backward(const TokenLogprobTask& task, const TokenLogprobRows& rows,
                                const TokenLogprobRows& upstream, bool hidden_wanted, bool head_wanted) {
  if (!has_kernel(task.hidden))
    return token_logprob_backward_by_pieces(task, rows, upstream, hidden_wanted, head_wanted);
  TokenLogprobSlopes to;
  if (hidden_wanted) to.hidden = at::empty_like(task.hidden);
  if (head_wanted) to.head = at::empty_like(task.head);
  const auto input = kernel_input(task);
  const kernels::TokenLogprobGradient<float> gradient{rows.log_sum.const_data_ptr<float>(),
                                                      rows.entropy.const_data_ptr<float>(),
                                                      upstream.logprob.const_data_ptr<float>(),
                                                      data_or_null(upstream.entropy),
                                                      data_or_null(to.hidden),
                                                      data_or_null(to.head)};
  if constexpr (kHasCuda)
    if (task.hidden.is_cuda()) {
      on_device(task.hidden, [&](void* workspace, void* stream) {
        return kernels::cuda::token_logprob_backward(input, gradient, workspace, stream);
      });
      return to;
    }
  kernels::token_logprob_backward(input, gradient, on_threads);
  return to;
}

struct TokenLogprobFunction : Function<TokenLogprobFunction> {
  static tensor_list forward(AutogradContext* context, const Tensor& hidden, const Tensor& head, const Tensor& ids,
                             double temperature) {
    const TokenLogprobTask task{hidden.contiguous(), head.contiguous(), ids.contiguous(), temperature};
    const TokenLogprobRows rows = run_forward(task);
    context->set_materialize_grads(false);
    context->save_for_backward({task.hidden, task.head, task.ids, rows.entropy, rows.log_sum});
    context->saved_data["temperature"] = temperature;
    return {rows.logprob, rows.entropy};
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const TokenLogprobTask task{saved[0], saved[1], saved[2], context->saved_data["temperature"].toDouble()};
    const TokenLogprobRows rows{Tensor(), saved[3], saved[4]};
    TokenLogprobRows upstream;
    upstream.logprob = gradients[0].defined() ? gradients[0].contiguous() : at::zeros_like(rows.log_sum);
    if (gradients[1].defined()) upstream.entropy = gradients[1].contiguous();
    const TokenLogprobSlopes slopes =
        run_backward(task, rows, upstream, context->needs_input_grad(0), context->needs_input_grad(1));
    return {slopes.hidden, slopes.head, Tensor(), Tensor()};
  }
};

}  // namespace

TokenLogprobs token_logprobs(const Tensor& hidden, const Tensor& head, const Tensor& ids, double temperature) {
  check(hidden, head, ids, temperature);
  const tensor_list rows = TokenLogprobFunction::apply(hidden, head, ids, temperature);
  return {rows[0], rows[1]};
}

}  // namespace agon::agents
