#include "agents/learn/network/fused_ops.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "agents/learn/network/dot.h"
#include "kernels/multiversion.h"

namespace agon::agents {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::tensor_list;

constexpr std::int64_t kGrain = 1 << 14;  // least number of elements per thread
constexpr std::int64_t kLine = 16;        // floats per cache line

bool is_plain(const Tensor& x) { return x.is_cpu() && x.scalar_type() == at::kFloat; }

void for_rows(std::int64_t rows, std::int64_t width, const std::function<void(std::int64_t, std::int64_t)>& body) {
  at::parallel_for(0, rows, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, width)), body);
}

AGON_MULTIVERSION void scale(const float* x, const float* weight, float factor, std::int64_t n, float* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * factor * weight[i];
}

// One row of the backward pass. With n = x * factor and g = dy * weight: dx = factor * (g - n * mean(g * n)).
AGON_MULTIVERSION void rms_norm_row_backward(const float* x, const float* weight, const float* dy, float factor,
                                             std::int64_t width, float* scaled, float* dx) {
  for (std::int64_t i = 0; i < width; ++i) scaled[i] = dy[i] * weight[i];
  const float mean = dot(scaled, x, width) * factor / static_cast<float>(width);
  for (std::int64_t i = 0; i < width; ++i) dx[i] = factor * (scaled[i] - x[i] * factor * mean);
}

// dweight += dy * n in columns [begin, end): each sums its rows in order.
AGON_MULTIVERSION void rms_norm_columns_backward(const float* x, const float* dy, const float* factors,
                                                 std::int64_t rows, std::int64_t width, std::int64_t begin,
                                                 std::int64_t end, float* dweight) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = begin; i < end; ++i) dweight[i] += dy[row * width + i] * (x[row * width + i] * factors[row]);
}

struct RmsNormFunction : Function<RmsNormFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight, double epsilon) {
    const Tensor x = input.contiguous();
    const std::int64_t width = x.size(-1), rows = x.numel() / width;
    Tensor y = at::empty_like(x), factors = at::empty({rows}, x.options());
    const auto *from = x.const_data_ptr<float>(), *scales = weight.const_data_ptr<float>();
    auto *to = y.mutable_data_ptr<float>(), *factor = factors.mutable_data_ptr<float>();
    for_rows(rows, width, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const float* line = from + row * width;
        factor[row] = 1 / std::sqrt(dot(line, line, width) / static_cast<float>(width) + static_cast<float>(epsilon));
        scale(line, scales, factor[row], width, to + row * width);
      }
    });
    context->save_for_backward({x, weight, factors});
    return y;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], dy = gradients[0].contiguous();
    const std::int64_t width = x.size(-1), rows = x.numel() / width;
    Tensor dx = at::empty_like(x), dweight = at::zeros_like(weight);
    const auto *from = x.const_data_ptr<float>(), *scales = weight.const_data_ptr<float>(),
               *slopes = dy.const_data_ptr<float>(), *factors = saved[2].const_data_ptr<float>();
    auto *to = dx.mutable_data_ptr<float>(), *sums = dweight.mutable_data_ptr<float>();
    for_rows(rows, width, [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> scaled(static_cast<std::size_t>(width));
      for (std::int64_t row = begin; row < end; ++row)
        rms_norm_row_backward(from + row * width, scales, slopes + row * width, factors[row], width, scaled.data(),
                              to + row * width);
    });
    const std::int64_t fewest = std::max<std::int64_t>(kLine, kGrain / std::max<std::int64_t>(1, rows));
    at::parallel_for(0, width, fewest, [&](std::int64_t begin, std::int64_t end) {
      rms_norm_columns_backward(from, slopes, factors, rows, width, begin, end, sums);
    });
    return {dx, dweight, Tensor()};
  }
};

// y = x rotated by +angle, or by -angle in the backward pass. x may have any strides except on its dense last axis.
AGON_MULTIVERSION void turn(const float* x, const float* cos, const float* sin, float sign, std::int64_t half,
                            float* y) {
  for (std::int64_t i = 0; i < half; ++i) {
    const float first = x[i], second = x[i + half], s = sign * sin[i];
    y[i] = first * cos[i] - second * s;
    y[i + half] = second * cos[i] + first * s;
  }
}

Tensor turned(const Tensor& input, const Tensor& cos, const Tensor& sin, float sign) {
  const Tensor x = input.stride(-1) == 1 ? input : input.contiguous();
  const std::int64_t rows = x.size(0), heads = x.size(1), width = x.size(2);
  Tensor y = at::empty({rows, heads, width}, x.options());
  const float *from = x.const_data_ptr<float>(), *cosines = cos.const_data_ptr<float>(),
              *sines = sin.const_data_ptr<float>();
  float* to = y.mutable_data_ptr<float>();
  for_rows(rows, heads * width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t head = 0; head < heads; ++head)
        turn(from + row * x.stride(0) + head * x.stride(1), cosines + row * (width / 2), sines + row * (width / 2),
             sign, width / 2, to + (row * heads + head) * width);
  });
  return y;
}

struct RotateFunction : Function<RotateFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& cos, const Tensor& sin) {
    context->save_for_backward({cos, sin});
    return turned(x, cos, sin, 1);
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    return {turned(gradients[0], saved[0], saved[1], -1), Tensor(), Tensor()};
  }
};

AGON_MULTIVERSION void silu_mul_backward(const float* gate, const float* up, const float* sigmoid, const float* dy,
                                         std::int64_t n, float* dgate, float* dup) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float silu = gate[i] * sigmoid[i];
    dup[i] = dy[i] * silu;
    dgate[i] = dy[i] * up[i] * (sigmoid[i] + silu * (1 - sigmoid[i]));
  }
}

AGON_MULTIVERSION void gated(const float* gate, const float* up, const float* sigmoid, std::int64_t n, float* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = gate[i] * sigmoid[i] * up[i];
}

struct SiluMulFunction : Function<SiluMulFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& gate_input, const Tensor& up_input) {
    const Tensor gate = gate_input.contiguous(), up = up_input.contiguous(), sigmoid = at::sigmoid(gate);
    Tensor y = at::empty_like(gate);
    at::parallel_for(0, y.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      gated(gate.const_data_ptr<float>() + begin, up.const_data_ptr<float>() + begin,
            sigmoid.const_data_ptr<float>() + begin, end - begin, y.mutable_data_ptr<float>() + begin);
    });
    context->save_for_backward({gate, up, sigmoid});
    return y;
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor dy = gradients[0].contiguous();
    Tensor dgate = at::empty_like(dy), dup = at::empty_like(dy);
    at::parallel_for(0, dy.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      silu_mul_backward(saved[0].const_data_ptr<float>() + begin, saved[1].const_data_ptr<float>() + begin,
                        saved[2].const_data_ptr<float>() + begin, dy.const_data_ptr<float>() + begin, end - begin,
                        dgate.mutable_data_ptr<float>() + begin, dup.mutable_data_ptr<float>() + begin);
    });
    return {dgate, dup};
  }
};

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& weight, double epsilon) {
  if (is_plain(x) && is_plain(weight)) return RmsNormFunction::apply(x, weight, epsilon);
  const Tensor wide = x.to(at::kFloat);
  return weight * (wide * at::rsqrt(wide.square().mean(-1, true) + epsilon)).to(x.scalar_type());
}

Tensor rotate_pairs(const Tensor& x, const Tensor& cos, const Tensor& sin) {
  if (is_plain(x) && is_plain(cos) && is_plain(sin))
    return RotateFunction::apply(x, cos.contiguous(), sin.contiguous());
  const auto halves = x.to(at::kFloat).chunk(2, -1);
  const Tensor c = cos.unsqueeze(1), s = sin.unsqueeze(1);
  return at::cat({halves[0] * c - halves[1] * s, halves[1] * c + halves[0] * s}, -1).to(x.scalar_type());
}

Tensor silu_mul(const Tensor& gate, const Tensor& up) {
  if (is_plain(gate) && is_plain(up)) return SiluMulFunction::apply(gate, up);
  return at::silu(gate) * up;
}

}  // namespace agon::agents
