// kernels/activation/activation.h - the activations of the Qwen2.5-VL family.
#pragma once

#include <cstdint>

namespace agon::kernels {

// gate_up [rows, 2 * width]: gate, then up. y [rows, width] = silu(gate) * up.
void swiglu(const float* gate_up, std::int64_t rows, int width, float* y);
// In place: x times the standard normal's distribution function (the exact GELU, not its tanh form).
void gelu(float* x, std::int64_t count);

namespace reference {  // in double, with std::exp and std::erfc
void swiglu(const float* gate_up, std::int64_t rows, int width, float* y);
void gelu(float* x, std::int64_t count);
}  // namespace reference

}  // namespace agon::kernels
