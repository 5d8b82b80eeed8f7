// kernels/activation/activation.h - the activation functions of the Qwen-VL model families: SwiGLU and forms of GELU.
#pragma once

#include <cstdint>

namespace agon::kernels {

// gate_up [rows, 2 * width]: gate, then up. y [rows, width] = silu(gate) * up.
void swiglu(const float* gate_up, std::int64_t rows, int width, float* y);
// In place: x times the standard normal's distribution function (the exact GELU, not its tanh form).
void gelu(float* x, std::int64_t count);
// In place, two approximations of it: x sigmoid(1.702 x), and x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
void quick_gelu(float* x, std::int64_t count);
void tanh_gelu(float* x, std::int64_t count);

namespace reference {  // in double, with std::exp, std::erfc and std::tanh
void swiglu(const float* gate_up, std::int64_t rows, int width, float* y);
void gelu(float* x, std::int64_t count);
void quick_gelu(float* x, std::int64_t count);
void tanh_gelu(float* x, std::int64_t count);
}  // namespace reference

}  // namespace agon::kernels
