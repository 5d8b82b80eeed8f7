// kernels/rms_norm/rms_norm.h - RMS normalisation: y = x / sqrt(mean(x^2) + epsilon) * weight, row by row.
#pragma once

#include <cstdint>

namespace agon::kernels {

// x, y [rows, width] with rows `stride` apart; y may be x. weight [width]. A row's result depends on no other row.
void rms_norm(const float* x, const float* weight, float epsilon, std::int64_t rows, int width, std::int64_t stride,
              float* y);

namespace reference {  // summed in double
void rms_norm(const float* x, const float* weight, float epsilon, std::int64_t rows, int width, std::int64_t stride,
              float* y);
}  // namespace reference

}  // namespace agon::kernels
