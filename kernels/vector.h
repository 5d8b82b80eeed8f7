// kernels/vector.h - SIMD types and math functions for the bodies of vectorised kernels (.cc files only).
// Floats and NarrowFloats stay in registers over a loop, for sums and products: Floats are 16 floats, for AVX-512;
// NarrowFloats are 4 for NEON and 8 everywhere else. GCC 12 keeps a value that is wider than a register in memory. exp,
// silu and others take one float, for loops that the compiler vectorises. Every lane gives the same result at every
// width. All functions are forced inline, so that a caller marked AGON_MULTIVERSION compiles them for its own
// instruction set.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/multiversion.h"

#define AGON_INLINE [[gnu::always_inline]] inline

namespace agon::kernels {

using Floats = float __attribute__((vector_size(64)));
#if defined(__aarch64__)
using NarrowFloats = float __attribute__((vector_size(16)));
#else
using NarrowFloats = float __attribute__((vector_size(32)));
#endif
template <typename Vector>
inline constexpr int kLanesOf = sizeof(Vector) / sizeof(float);
inline constexpr int kLanes = kLanesOf<Floats>;

// Whether to compute with Floats: true if the machine runs what AGON_MULTIVERSION compiles for AVX-512.
AGON_INLINE bool has_wide_registers() {
#ifdef AGON_HAS_MULTIVERSION
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

template <typename Vector>
AGON_INLINE Vector load(const float* from) {
  Vector value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename Vector>
AGON_INLINE void store(float* to, Vector value) {
  std::memcpy(to, &value, sizeof value);
}
template <typename Vector>
AGON_INLINE Vector load(const float* from, int count) {  // the first `count` lanes, 0 in the others
  if (count == kLanesOf<Vector>) return load<Vector>(from);
  Vector value{};
  std::memcpy(&value, from, sizeof(float) * static_cast<std::size_t>(count));
  return value;
}
template <typename Vector>
AGON_INLINE void store(float* to, Vector value, int count) {
  if (count == kLanesOf<Vector>) return store(to, value);
  std::memcpy(to, &value, sizeof(float) * static_cast<std::size_t>(count));
}

// Sums 16 lanes in one fixed order; overwrites them.
AGON_INLINE float sum(float* lanes) {
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}
AGON_INLINE float larger(float a, float b) { return a > b ? a : b; }  // b if one of them is a NaN
AGON_INLINE float largest(const float* lanes) {
  float best = lanes[0];
  for (int i = 1; i < kLanes; ++i) best = larger(lanes[i], best);
  return best;
}

// e^x within 2 units in the last place; 0 below -87.3 (no denormal results), infinity above 88.7.
AGON_INLINE float exp(float x) {
  constexpr float kLowest = -87.33654f, kHighest = 88.72283f, kRound = 12582912.0f;  // 1.5 * 2^23
  const float bounded = x < kLowest ? kLowest : x > kHighest ? kHighest : x;
  const float shifted = bounded * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = bounded - n * 0.693145752f - n * 1.42860677e-6f;
  float p = r * 0.0013748823f + 0.00836963113f;
  p = p * r + 0.0416696481f;
  p = p * r + 0.166665122f;
  p = p * r + 0.499999881f;
  p = p * (r * r) + r + 1.0f;
  // 2^n in two factors: n reaches 128 at the top of the range.
  const std::int32_t whole = std::bit_cast<std::int32_t>(shifted) - 0x4b400000, half = whole >> 1;
  const float result = p * std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((whole - half + 127) << 23);
  return x < kLowest ? 0.0f : x > kHighest ? std::numeric_limits<float>::infinity() : result;
}

// x * sigmoid(x).
AGON_INLINE float silu(float x) { return x / (exp(-x) + 1.0f); }
AGON_INLINE float quick_gelu(float x) { return x / (exp(-1.702f * x) + 1.0f); }
// (1 + tanh(z)) / 2 is sigmoid(2 z).
AGON_INLINE float tanh_gelu(float x) { return x / (exp(-1.59576912f * (x + 0.044715f * x * x * x)) + 1.0f); }

// x * P(Z < x) for a standard normal Z: the exact GELU, with erfc(z) = t exp(-z^2) P(t), t = 1 / (1 + z / 2).
AGON_INLINE float gelu(float x) {
  const float z = (x < 0 ? -x : x) * 0.707106781f;
  const float t = 1.0f / (z * 0.5f + 1.0f);
  float p = t * -0.0514011681f + 0.342036575f;
  p = p * t - 0.882370234f;
  p = p * t + 0.980933666f;
  p = p * t - 0.353440613f;
  p = p * t + 0.433781296f;
  p = p * t + 0.245222837f;
  p = p * t + 0.28523764f;
  const float tail = p * t * exp(-z * z);  // erfc(|x| / sqrt 2)
  return x * 0.5f * (x < 0 ? tail : 2.0f - tail);
}

}  // namespace agon::kernels
