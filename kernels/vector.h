// kernels/vector.h - 16 floats as one value, for the bodies of vectorised kernels (.cc files only). The compiler makes
// one AVX-512, two AVX2 or four SSE registers of it; each lane is computed alike whatever the width. All functions are
// forced inline, so that a caller marked AGON_MULTIVERSION compiles them for its own instruction set.
#pragma once

#include <cstdint>
#include <cstring>

#define AGON_INLINE [[gnu::always_inline]] inline

namespace agon::kernels {

using Floats = float __attribute__((vector_size(64)));
using Ints = std::int32_t __attribute__((vector_size(64)));
inline constexpr int kLanes = 16;

AGON_INLINE Floats load(const float* from) {
  Floats value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
AGON_INLINE void store(float* to, Floats value) { std::memcpy(to, &value, sizeof value); }
AGON_INLINE Floats load(const float* from, int count, float fill = 0) {  // the first `count` lanes
  if (count == kLanes) return load(from);
  Floats value = Floats{} + fill;
  std::memcpy(&value, from, sizeof(float) * static_cast<std::size_t>(count));
  return value;
}
AGON_INLINE void store(float* to, Floats value, int count) {
  if (count == kLanes) return store(to, value);
  std::memcpy(to, &value, sizeof(float) * static_cast<std::size_t>(count));
}
AGON_INLINE Floats broadcast(float value) { return Floats{} + value; }
AGON_INLINE Ints lane_index() { return Ints{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
AGON_INLINE Floats larger(Floats a, Floats b) { return a > b ? a : b; }

// Over the lanes, in one fixed order.
AGON_INLINE float sum(Floats value) {
  float lanes[kLanes];
  store(lanes, value);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}
AGON_INLINE float largest(Floats value) {
  float lanes[kLanes];
  store(lanes, value);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] = lanes[i] > lanes[i + width] ? lanes[i] : lanes[i + width];
  return lanes[0];
}

// e^x within 2 units in the last place; 0 below -87.3 (no denormal results), infinity above 88.7.
AGON_INLINE Floats exp(Floats x) {
  constexpr float kLowest = -87.33654f, kHighest = 88.72283f, kRound = 12582912.0f;  // 1.5 * 2^23
  const Floats bounded = x < kLowest ? broadcast(kLowest) : x > kHighest ? broadcast(kHighest) : x;
  const Floats shifted = bounded * 1.44269504f + kRound;
  const Floats n = shifted - kRound;
  const Floats r = bounded - n * 0.693145752f - n * 1.42860677e-6f;
  Floats p = r * 0.0013748823f + 0.00836963113f;
  p = p * r + 0.0416696481f;
  p = p * r + 0.166665122f;
  p = p * r + 0.499999881f;
  p = p * (r * r) + r + 1.0f;
  // 2^n in two factors: n reaches 128 at the top of the range.
  const Ints whole = reinterpret_cast<Ints>(shifted) - 0x4b400000, half = whole >> 1;
  const Floats result =
      p * reinterpret_cast<Floats>((half + 127) << 23) * reinterpret_cast<Floats>((whole - half + 127) << 23);
  return x < kLowest ? Floats{} : x > kHighest ? broadcast(__builtin_inff()) : result;
}

// x * sigmoid(x).
AGON_INLINE Floats silu(Floats x) { return x / (exp(-x) + 1.0f); }

// x * P(Z < x) for a standard normal Z: the exact GELU, with erfc(z) = t exp(-z^2) P(t), t = 1 / (1 + z / 2).
AGON_INLINE Floats gelu(Floats x) {
  const Floats z = (x < 0 ? -x : x) * 0.707106781f;
  const Floats t = 1.0f / (z * 0.5f + 1.0f);
  Floats p = t * -0.0514011681f + 0.342036575f;
  p = p * t - 0.882370234f;
  p = p * t + 0.980933666f;
  p = p * t - 0.353440613f;
  p = p * t + 0.433781296f;
  p = p * t + 0.245222837f;
  p = p * t + 0.28523764f;
  const Floats tail = p * t * exp(-z * z);  // erfc(|x| / sqrt 2)
  return x * 0.5f * (x < 0 ? tail : 2.0f - tail);
}

}  // namespace agon::kernels
