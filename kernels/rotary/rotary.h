// kernels/rotary/rotary.h - rotary position embedding (rotate-half form), in place.
#pragma once

#include <cstdint>

namespace agon::kernels {

// x: rows `stride` apart, each with `heads` vectors of `head_dim` values side by side. head_dim is even. cosines,
// sines: of the angles of each row, [rows, head_dim / 2]. The halves a, b of a vector become a cos - b sin, b cos + a
// sin.
void rotate(float* x, std::int64_t rows, std::int64_t stride, int heads, int head_dim, const float* cosines,
            const float* sines);

namespace reference {  // in double
void rotate(float* x, std::int64_t rows, std::int64_t stride, int heads, int head_dim, const float* cosines,
            const float* sines);
}  // namespace reference

}  // namespace agon::kernels
