// tests/support/tensors.h - compares tensors.
#pragma once

#include <ATen/core/Tensor.h>

namespace agon::test {

// The largest difference of two tensors of one shape, in double; 0 for empty ones.
inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return a.numel() == 0 ? 0 : (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace agon::test
