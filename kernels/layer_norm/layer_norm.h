// kernels/layer_norm/layer_norm.h - layer normalisation: y = (x - mean(x)) / sqrt(variance(x) + epsilon) * weight +
// bias, row by row.
#pragma once

#include <cstdint>

namespace agon::kernels {

// x, y [rows, width]; y may be x. weight, bias [width]. A row's result depends on no other row.
void layer_norm(const float* x, const float* weight, const float* bias, float epsilon, std::int64_t rows, int width,
                float* y);

namespace reference {  // summed in double
void layer_norm(const float* x, const float* weight, const float* bias, float epsilon, std::int64_t rows, int width,
                float* y);
}  // namespace reference

}  // namespace agon::kernels
