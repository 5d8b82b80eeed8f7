// agents/learn/network/dot.h - the inner product of two rows of floats.
#pragma once

#include <cstdint>

namespace agon::agents {

// Inner product of a[0 .. n) and b[0 .. n), always summed in the same order.
float dot(const float* a, const float* b, std::int64_t n);

}  // namespace agon::agents
