#pragma once
#include <torch/types.h>
namespace agon::agents {
struct TokenLogprobs { at::Tensor logprob, entropy; };
TokenLogprobs token_logprobs(const at::Tensor& hidden, const at::Tensor& lm_head, const at::Tensor& ids, double temperature);
}
