// agents/learn/network/fused_ops.h - the elementwise chains of the decoder and the vision tower as single autograd
// operations: one pass over memory forward and one backward, in place of six or more by ATen. fp32 on the CPU; other
// types and devices go through the ATen chain.
#pragma once

#include <ATen/core/Tensor.h>

namespace agon::agents {

// weight * x / sqrt(mean(x^2) + epsilon), computed in fp32. x [..., width], weight [width].
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon);

// The pairs (i, i + d / 2) of x [rows, heads, d] turn by their angle: cos, sin [rows, d / 2] without gradient.
at::Tensor rotate_pairs(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

// silu(gate) * up, elementwise.
at::Tensor silu_mul(const at::Tensor& gate, const at::Tensor& up);

}  // namespace agon::agents
