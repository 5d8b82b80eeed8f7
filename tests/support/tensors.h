// tests/support/tensors.h - tensors against each other.
#pragma once

#include <ATen/core/Tensor.h>

namespace agon::test {

// Of two tensors of one shape, in double; 0 for empty ones.
inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return a.numel() == 0 ? 0 : (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace agon::test
