#include "kernels/linear/coded/product/product.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "kernels/aligned.h"

#define AGON_AVX2 [[gnu::target("avx2,fma,f16c")]]

namespace agon::kernels {
namespace {

constexpr int kHalf = kVector / 2;  // bytes: 8 outputs of 4 inputs
constexpr int kBlockVectors = 8;
constexpr std::int64_t kManyRows = 16;

// Expands 32 bits to bytes: `value` for a set bit, else 0.
AGON_AVX2 inline __m256i spread(const std::uint8_t* bits, char value) {
  std::int32_t all;
  std::memcpy(&all, bits, sizeof all);
  const __m256i order = _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
  const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(all), order);
  const __m256i each = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
  return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(bytes, each), each), _mm256_set1_epi8(value));
}

template <int Bits>
AGON_AVX2 inline __m256i with_planes(__m256i codes, const std::uint8_t* planes, int vector, int half) {
  const std::uint8_t* const bits = planes + 8 * vector + 4 * half;
  if constexpr (Bits == 5 || Bits == 6) codes = _mm256_or_si256(codes, spread(bits, 16));
  if constexpr (Bits == 6) codes = _mm256_or_si256(codes, spread(bits + kVector, 32));
  return codes;
}

// Number of vectors whose products of two inputs each fit in 16 bits when they are added: 127 * 2 * code * vectors.
constexpr int vectors_together(int bits) { return bits == 4 ? 8 : bits == 5 ? 4 : bits == 6 ? 2 : 1; }

// pairs += the products of 4 inputs, two by two. 8-bit codes arrive with 128 subtracted: with codes up to 255 not even
// one vector would fit.
template <int Bits, int Rows>
AGON_AVX2 inline void add_products(__m256i codes, const std::int8_t* x, std::int64_t stride, __m256i (&pairs)[Rows]) {
  const __m256i sizes = Bits == 8 ? _mm256_abs_epi8(codes) : codes;
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
    std::int32_t four;
    std::memcpy(&four, x + r * stride, sizeof four);
    __m256i inputs = _mm256_set1_epi32(four);
    if constexpr (Bits == 8) inputs = _mm256_sign_epi8(inputs, codes);
    pairs[r] = _mm256_add_epi16(pairs[r], _mm256_maddubs_epi16(sizes, inputs));
  }
}

template <int Rows>
AGON_AVX2 inline void scale_sums(const __m256i (&sum)[Rows], const std::uint8_t* scales, const float* x_scales,
                                 std::int64_t stride, __m256 (&total)[Rows]) {
  const __m256 scale = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(scales)));
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
    total[r] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[r]), _mm256_mul_ps(scale, _mm256_set1_ps(x_scales[r * stride])),
                               total[r]);
}

// The codes of a vector's half.
template <int Bits>
AGON_AVX2 inline __m256i codes_of(const std::uint8_t* block, const CodedLayout& layout, int vector, int half) {
  const std::uint8_t* const at = block + (Bits == 8 ? vector : vector % 4) * kVector + half * kHalf;
  const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  if constexpr (Bits == 8) return _mm256_xor_si256(codes, _mm256_set1_epi8(static_cast<char>(128)));
  const __m256i lower = _mm256_and_si256(vector < 4 ? codes : _mm256_srli_epi16(codes, 4), _mm256_set1_epi8(15));
  return with_planes<Bits>(lower, block + layout.planes, vector, half);
}

// All codes of a panel as bytes, [blocks, 8 vectors, 64], for many rows: codes with planes take longer to read than to
// multiply. Valid until the next call on this thread.
template <int Bits>
AGON_AVX2 const std::uint8_t* unpacked(const CodedProduct& at, const CodedLayout& layout) {
  thread_local AlignedFloats memory;
  memory.require(static_cast<std::size_t>(at.blocks * kBlockVectors * kVector) / sizeof(float));
  auto* const bytes = reinterpret_cast<std::uint8_t*>(memory.data());
  std::uint8_t* to = bytes;
  const std::uint8_t* block = at.panel;
  for (std::int64_t b = 0; b < at.blocks; ++b, block += layout.bytes)
#pragma GCC unroll 8
    for (int v = 0; v < kBlockVectors; ++v)
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half, to += kHalf)
        _mm256_store_si256(reinterpret_cast<__m256i*>(to), codes_of<Bits>(block, layout, v, half));
  return bytes;
}

// A block of a panel, and its codes as bytes or null.
struct BlockCodes {
  const std::uint8_t *packed, *bytes;
};

template <int Bits, bool AreBytes>
AGON_AVX2 inline __m256i codes_of(const BlockCodes& block, const CodedLayout& layout, int vector, int half) {
  if constexpr (!AreBytes) return codes_of<Bits>(block.packed, layout, vector, half);
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(block.bytes + vector * kVector + half * kHalf));
}

// Adds `Vectors` vectors of the block from `first` on, 4 inputs each.
template <int Bits, bool AreBytes, int Vectors, int Rows>
AGON_AVX2 inline void add_vectors(const BlockCodes& block, const CodedLayout& layout, int half, int first,
                                  const std::int8_t* x, std::int64_t stride, __m256i (&sum)[Rows]) {
  constexpr int kTogether = std::min(Vectors, vectors_together(Bits));
#pragma GCC unroll 8
  for (int begin = first; begin < first + Vectors; begin += kTogether) {
    __m256i pairs[Rows];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) pairs[r] = _mm256_setzero_si256();
#pragma GCC unroll 8
    for (int v = begin; v < begin + kTogether; ++v)
      add_products<Bits, Rows>(codes_of<Bits, AreBytes>(block, layout, v, half), x + 4 * v, stride, pairs);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(pairs[r], _mm256_set1_epi16(1)));
  }
}

// bytes: the result of unpacked(), if AreBytes.
template <int Bits, int Groups, bool HasOffsets, bool AreBytes, int Rows>
AGON_AVX2 void rows_of(const CodedProduct& at, const std::uint8_t* bytes, std::int64_t row, int half) {
  constexpr CodedLayout kLayout({.bits = Bits, .group = kBlock / Groups, .middle = 0, .has_offsets = HasOffsets});
  const std::int64_t stride = at.blocks * kBlock;
  __m256 total[Rows];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) total[r] = _mm256_setzero_ps();
  const std::uint8_t* block = at.panel;
  for (std::int64_t b = 0; b < at.blocks; ++b, block += kLayout.bytes) {
    const std::int8_t* const x = at.codes + row * stride + b * kBlock;
    const float* const x_scales = at.scales + row * at.blocks + b;
#pragma GCC unroll 2
    for (int g = 0; g < Groups; ++g) {
      const std::int32_t* const starts = at.starts + (row * at.blocks + b) * Groups + g;
      __m256i sum[Rows];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r)
        sum[r] = Bits == 8 ? _mm256_setzero_si256() : _mm256_set1_epi32(starts[r * at.blocks * Groups]);
      add_vectors<Bits, AreBytes, 8 / Groups, Rows>({block, AreBytes ? bytes + b * kBlockVectors * kVector : nullptr},
                                                    kLayout, half, g * 8 / Groups, x, stride, sum);
      scale_sums<Rows>(sum, block + kLayout.scales + (g * kCodedPanel + half * 8) * 2, x_scales, at.blocks, total);
    }
    if constexpr (HasOffsets) {
      const std::uint8_t* const offsets = block + kLayout.offsets + half * 16;
      const __m256 offset = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(offsets)));
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r)
        total[r] = _mm256_fmadd_ps(offset, _mm256_set1_ps(at.sums[(row + r) * at.blocks + b]), total[r]);
    }
  }
  for (int r = 0; r < Rows; ++r) {
    float results[8];
    _mm256_storeu_ps(results, total[r]);
    for (int n = 8 * half; n < at.columns && n < 8 * half + 8; ++n) {
      float& y = at.y[(row + r) * at.y_stride + n];
      y = results[n - 8 * half] + (at.bias ? at.bias[n] : 0) + (at.add ? y : 0);
    }
  }
}

template <int Bits, int Groups, bool HasOffsets, bool AreBytes>
AGON_AVX2 void all_rows(const CodedProduct& at, const std::uint8_t* bytes, std::int64_t begin, std::int64_t end) {
  for (int half = 0; half < 2 && 8 * half < at.columns; ++half) {
    std::int64_t row = begin;
    for (; row + 4 <= end; row += 4) rows_of<Bits, Groups, HasOffsets, AreBytes, 4>(at, bytes, row, half);
    for (; row + 2 <= end; row += 2) rows_of<Bits, Groups, HasOffsets, AreBytes, 2>(at, bytes, row, half);
    for (; row < end; ++row) rows_of<Bits, Groups, HasOffsets, AreBytes, 1>(at, bytes, row, half);
  }
}

struct Avx2Rows {
  template <int Bits, int Groups, bool HasOffsets>
  AGON_AVX2 static void multiply(const CodedProduct& at, std::int64_t begin, std::int64_t end) {
    constexpr CodedLayout kLayout({.bits = Bits, .group = kBlock / Groups, .middle = 0, .has_offsets = HasOffsets});
    if constexpr (Bits == 5 || Bits == 6)
      if (end - begin >= kManyRows)
        return all_rows<Bits, Groups, HasOffsets, true>(at, unpacked<Bits>(at, kLayout), begin, end);
    all_rows<Bits, Groups, HasOffsets, false>(at, nullptr, begin, end);
  }
};

// __builtin_cpu_supports of clang 14 does not know f16c.
bool has_f16c() {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}

}  // namespace

CodedProductFunction coded_product_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c() ? coded_product_of<Avx2Rows>
                                                                                       : nullptr;
}

}  // namespace agon::kernels

#else

namespace agon::kernels {

CodedProductFunction coded_product_avx2() { return nullptr; }

}  // namespace agon::kernels

#endif
