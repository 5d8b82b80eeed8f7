#include "agents/learn/network/fused_ops.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>
#include <torch/csrc/autograd/autograd.h>

#include "torch_catch.h"

using at::Tensor;
using namespace agon::agents;

namespace {

// Checks that both have the same values and, for one upstream gradient, the same gradients.
void require_equal(const Tensor& fused, const Tensor& chain, const std::vector<Tensor>& inputs) {
  REQUIRE(at::allclose(fused, chain, 1e-5, 1e-6));
  const Tensor upstream = at::randn(fused.sizes());
  const auto of_fused = torch::autograd::grad({fused}, inputs, {upstream});
  const auto of_chain = torch::autograd::grad({chain}, inputs, {upstream});
  for (std::size_t i = 0; i < inputs.size(); ++i) REQUIRE(at::allclose(of_fused[i], of_chain[i], 1e-4, 1e-5));
}

Tensor leaf(std::vector<std::int64_t> sizes) { return at::randn(sizes).set_requires_grad(true); }

}  // namespace

TEST_CASE("rms_norm equals its ATen chain, forward and backward, at odd widths") {
  at::manual_seed(1);
  for (const std::int64_t width : {1, 15, 16, 33, 128}) {
    const Tensor x = leaf({3, 5, width}), weight = leaf({width});
    require_equal(rms_norm(x, weight, 1e-6), weight * (x * at::rsqrt(x.square().mean(-1, true) + 1e-6)), {x, weight});
  }
}

TEST_CASE("rms_norm: a long batch equals its ATen chain, with the same bits on any number of threads") {
  const int before = at::get_num_threads();
  at::manual_seed(4);
  for (const std::int64_t width : {128, 37}) {
    const Tensor x = leaf({3001, width}), weight = leaf({width}), upstream = at::randn({3001, width});
    require_equal(rms_norm(x, weight, 1e-6), weight * (x * at::rsqrt(x.square().mean(-1, true) + 1e-6)), {x, weight});
    const auto gradients = [&](int threads) {
      at::set_num_threads(threads);
      return torch::autograd::grad({rms_norm(x, weight, 1e-6)}, {x, weight}, {upstream});
    };
    const auto one = gradients(1);
    for (const int threads : {2, 3, 8}) {
      const auto several = gradients(threads);
      for (std::size_t i = 0; i < one.size(); ++i) REQUIRE(at::equal(one[i], several[i]));
    }
  }
  at::set_num_threads(before);
}

TEST_CASE("rotate_pairs equals its ATen chain on views with gaps between the rows") {
  at::manual_seed(2);
  const Tensor packed = leaf({7, 3, 4, 10}), angles = at::randn({7, 5});
  const Tensor x = packed.unbind(1)[1], cos = angles.cos(), sin = angles.sin();
  const auto halves = x.chunk(2, -1);
  const Tensor c = cos.unsqueeze(1), s = sin.unsqueeze(1);
  require_equal(rotate_pairs(x, cos, sin), at::cat({halves[0] * c - halves[1] * s, halves[1] * c + halves[0] * s}, -1),
                {packed});
}

TEST_CASE("silu_mul equals its ATen chain") {
  at::manual_seed(3);
  const Tensor gate = leaf({5, 37}), up = leaf({5, 37});
  require_equal(silu_mul(gate, up), at::silu(gate) * up, {gate, up});
}

TEST_CASE("other types go through the ATen chain") {
  const Tensor x = at::randn({2, 8}).to(at::kBFloat16), weight = at::randn({8}).to(at::kBFloat16);
  REQUIRE(rms_norm(x, weight, 1e-6).scalar_type() == at::kBFloat16);
  REQUIRE(silu_mul(x, x).scalar_type() == at::kBFloat16);
}
