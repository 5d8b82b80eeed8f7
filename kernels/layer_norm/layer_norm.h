// kernels/layer_norm/layer_norm.h - y = (x - mean(x)) / sqrt(variance(x) + epsilon) * weight + bias, row by row.
#pragma once

#include <cstdint>

namespace agon::kernels {

// x, y [rows, width]; y may be x. weight, bias [width]. Each row is computed by itself.
void layer_norm(const float* x, const float* weight, const float* bias, float epsilon, std::int64_t rows, int width,
                float* y);

namespace reference {  // summed in double
void layer_norm(const float* x, const float* weight, const float* bias, float epsilon, std::int64_t rows, int width,
                float* y);
}  // namespace reference

}  // namespace agon::kernels
