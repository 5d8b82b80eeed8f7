// agents/learn/network/fused_ops.h - fused elementwise operations of the decoder and the vision tower, with gradients.
// Forward and backward take one or two passes over memory each, where ATen takes six or more. Only fp32 on the CPU is
// fused; other types and devices use ATen's operations.
#pragma once

#include <ATen/core/Tensor.h>

namespace agon::agents {

// weight * x / sqrt(mean(x^2) + epsilon), computed in fp32. x [..., width], weight [width].
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon);

// Rotary embedding: rotates each pair (i, i + d / 2) of x [rows, heads, d] by its angle. cos, sin [rows, d / 2] get no
// gradient.
at::Tensor rotate_pairs(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

// silu(gate) * up, elementwise.
at::Tensor silu_mul(const at::Tensor& gate, const at::Tensor& up);

}  // namespace agon::agents
