// kernels/bfloat_vector.h - pairs of bfloat16 values in AVX-512's registers (.cc files only). Functions that use them
// are marked AGON_BF16 and run only where the processor has these instructions.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#define AGON_BF16 [[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]]

namespace agon::kernels {

inline constexpr std::int64_t kVectorBytes = 64;  // 16 pairs

// No instruction: the compiler has no cast between these types.
AGON_BF16 inline __m512bh as_bfloat(__m512i bits) {
  __m512bh values;
  std::memcpy(&values, &bits, sizeof values);
  return values;
}

AGON_BF16 inline __m512bh load_pairs(const void* from) { return as_bfloat(_mm512_loadu_si512(from)); }

// Repeats one pair in every lane.
AGON_BF16 inline __m512bh spread_pair(const std::uint16_t* pair) {
  std::int32_t both;
  std::memcpy(&both, pair, sizeof both);
  return as_bfloat(_mm512_set1_epi32(both));
}

}  // namespace agon::kernels

#endif
