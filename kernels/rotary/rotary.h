// kernels/rotary/rotary.h - rotary position embedding (rotate-half form), in place.
#pragma once

#include <cstdint>

namespace agon::kernels {

// x: rows `stride` apart, each `heads` vectors of `head_dim` side by side. cosines, sines [rows, head_dim / 2]: of
// each row's angles. (a, b), the halves of a vector, become (a cos - b sin, b cos + a sin). head_dim is even.
void rotate(float* x, std::int64_t rows, std::int64_t stride, int heads, int head_dim, const float* cosines,
            const float* sines);

namespace reference {  // in double
void rotate(float* x, std::int64_t rows, std::int64_t stride, int heads, int head_dim, const float* cosines,
            const float* sines);
}  // namespace reference

}  // namespace agon::kernels
