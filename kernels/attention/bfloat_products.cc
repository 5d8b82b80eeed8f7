#include "kernels/attention/bfloat_products.h"

#include <cassert>

#if defined(__x86_64__)

#include "kernels/bfloat_vector.h"

namespace agon::kernels {
namespace {

template <int Queries, int Blocks>
AGON_BF16 void score(const BfloatScores& at, const BfloatBlocks& blocks, int first) {
  const std::byte* keys[Blocks];
  for (int b = 0; b < Blocks; ++b) keys[b] = blocks.pages[first + b] + blocks.offset;
  __m512 total[Queries][Blocks];
#pragma GCC unroll 4
  for (int q = 0; q < Queries; ++q)
#pragma GCC unroll 4
    for (int b = 0; b < Blocks; ++b) total[q][b] = _mm512_setzero_ps();
  for (std::int64_t word = 0; word < at.words; ++word) {
    __m512bh key[Blocks];
#pragma GCC unroll 4
    for (int b = 0; b < Blocks; ++b) {
      key[b] = load_pairs(keys[b] + word * kVectorBytes);
      _mm_prefetch(keys[b] + at.values + word * kVectorBytes, _MM_HINT_T0);
    }
#pragma GCC unroll 4
    for (int q = 0; q < Queries; ++q) {
      const __m512bh query = spread_pair(at.queries + 2 * (q * at.words + word));
#pragma GCC unroll 4
      for (int b = 0; b < Blocks; ++b) total[q][b] = _mm512_dpbf16_ps(total[q][b], key[b], query);
    }
  }
  const __m512 scale = _mm512_set1_ps(at.scale);
  for (int q = 0; q < Queries; ++q)
    for (int b = 0; b < Blocks; ++b)
      _mm512_storeu_ps(at.scores + q * at.stride + 16 * (first + b), _mm512_mul_ps(total[q][b], scale));
}

template <int Queries>
AGON_BF16 void score_all(const BfloatScores& at, const BfloatBlocks& blocks) {
  int first = 0;
  for (; first + 4 <= blocks.count; first += 4) score<Queries, 4>(at, blocks, first);
  for (; first < blocks.count; ++first) score<Queries, 1>(at, blocks, first);
}

template <int Queries, int Vectors>
AGON_BF16 void sum(const BfloatSums& at, const BfloatBlocks& blocks, std::int64_t column) {
  __m512 total[Queries][Vectors];
#pragma GCC unroll 4
  for (int q = 0; q < Queries; ++q)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) total[q][v] = _mm512_loadu_ps(at.sums + q * at.sum_stride + column + 16 * v);
  for (std::int64_t block = 0; block < blocks.count; ++block) {
    const std::byte* value = blocks.pages[block] + blocks.offset + at.values + column * 4;
    const std::uint16_t* weights = at.weights + 16 * block;
    const std::int64_t keys = at.keys - 16 * block < 16 ? at.keys - 16 * block : 16;
    for (std::int64_t key = 0; key < keys; key += 2, value += at.value_stride, weights += 2) {
      // The second value of the last pair may not exist, and 0 times a NaN is not 0.
      const __m512i kept = _mm512_set1_epi32(key + 1 < keys ? -1 : 0xffff);
      __m512bh values[Vectors];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v)
        values[v] = as_bfloat(_mm512_and_si512(_mm512_loadu_si512(value + v * kVectorBytes), kept));
#pragma GCC unroll 4
      for (int q = 0; q < Queries; ++q) {
        const __m512bh weight = spread_pair(weights + q * at.weight_stride);
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) total[q][v] = _mm512_dpbf16_ps(total[q][v], values[v], weight);
      }
    }
  }
#pragma GCC unroll 4
  for (int q = 0; q < Queries; ++q)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) _mm512_storeu_ps(at.sums + q * at.sum_stride + column + 16 * v, total[q][v]);
}

template <int Queries>
AGON_BF16 void sum_all(const BfloatSums& at, const BfloatBlocks& blocks) {
  int column = 0;
  for (; column + 64 <= at.columns; column += 64) sum<Queries, 4>(at, blocks, column);
  for (; column < at.columns; column += 16) sum<Queries, 1>(at, blocks, column);
}

}  // namespace

bool has_bfloat_products() {
  static const bool kHas = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bf16");
  return kHas;
}

void bfloat_scores(const BfloatScores& at, const BfloatBlocks& blocks) {
  switch (at.count) {
    case 4:
      return score_all<4>(at, blocks);
    case 2:
      return score_all<2>(at, blocks);
    default:
      return score_all<1>(at, blocks);
  }
}

void bfloat_sums(const BfloatSums& at, const BfloatBlocks& blocks) {
  switch (at.count) {
    case 4:
      return sum_all<4>(at, blocks);
    case 2:
      return sum_all<2>(at, blocks);
    default:
      return sum_all<1>(at, blocks);
  }
}

}  // namespace agon::kernels

#else

namespace agon::kernels {

bool has_bfloat_products() { return false; }
void bfloat_scores(const BfloatScores&, const BfloatBlocks&) { assert(false); }
void bfloat_sums(const BfloatSums&, const BfloatBlocks&) { assert(false); }

}  // namespace agon::kernels

#endif
