#include "kernels/linear/coded/product/product.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#define AGON_VNNI [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]]

namespace agon::kernels {
namespace {

// Adds the fifth and sixth bits to one vector of codes: 16 outputs of 4 inputs each.
template <int Bits>
AGON_VNNI inline __m512i with_planes(__m512i codes, const std::uint8_t* planes, int vector) {
  if constexpr (Bits == 5 || Bits == 6) {
    __mmask64 bits;
    std::memcpy(&bits, planes + 8 * vector, sizeof bits);
    codes = _mm512_mask_add_epi8(codes, bits, codes, _mm512_set1_epi8(16));
  }
  if constexpr (Bits == 6) {
    __mmask64 bits;
    std::memcpy(&bits, planes + kVector + 8 * vector, sizeof bits);
    codes = _mm512_mask_add_epi8(codes, bits, codes, _mm512_set1_epi8(32));
  }
  return codes;
}

// sum += the products of 4 inputs.
template <int Rows>
AGON_VNNI inline void add_products(__m512i codes, const std::int8_t* x, std::int64_t stride, __m512i (&sum)[Rows]) {
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    std::int32_t inputs;
    std::memcpy(&inputs, x + r * stride, sizeof inputs);
    sum[r] = _mm512_dpbusd_epi32(sum[r], codes, _mm512_set1_epi32(inputs));
  }
}

// total += the sums times both scales.
template <int Rows>
AGON_VNNI inline void scale_sums(const __m512i (&sum)[Rows], const std::uint8_t* scales, const float* x_scales,
                                 std::int64_t stride, __m512 (&total)[Rows]) {
  const __m512 scale = _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(scales)));
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
    total[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[r]), _mm512_mul_ps(scale, _mm512_set1_ps(x_scales[r * stride])),
                               total[r]);
}

template <int Bits, int Groups, bool HasOffsets, int Rows>
AGON_VNNI inline void add_block(const CodedProduct& at, const std::uint8_t* block, std::int64_t row, std::int64_t b,
                                __m512 (&total)[Rows]) {
  constexpr CodedLayout kLayout({.bits = Bits, .group = kBlock / Groups, .middle = 0, .has_offsets = HasOffsets});
  const std::int64_t stride = at.blocks * kBlock;
  const std::int8_t* const x = at.codes + row * stride + b * kBlock;
  const std::int32_t* const starts = at.starts + (row * at.blocks + b) * Groups;
  const __m512i lower = _mm512_set1_epi8(15);
  __m512i sum[2][Rows];  // of the first and the last 16 inputs
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    sum[0][r] = _mm512_set1_epi32(starts[r * at.blocks * Groups]);
    sum[1][r] = Groups == 2 ? _mm512_set1_epi32(starts[r * at.blocks * Groups + 1]) : _mm512_setzero_si512();
  }
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v) {
    __m512i first = _mm512_loadu_si512(block + v * kVector), last;
    if constexpr (Bits == 8) {
      last = _mm512_loadu_si512(block + (v + 4) * kVector);
    } else {
      last = with_planes<Bits>(_mm512_and_si512(_mm512_srli_epi16(first, 4), lower), block + kLayout.planes, v + 4);
      first = with_planes<Bits>(_mm512_and_si512(first, lower), block + kLayout.planes, v);
    }
    add_products<Rows>(first, x + 4 * v, stride, sum[0]);
    add_products<Rows>(last, x + 4 * (v + 4), stride, sum[1]);
  }
  const float* const x_scales = at.scales + row * at.blocks + b;
  if constexpr (Groups == 2) {
    scale_sums<Rows>(sum[0], block + kLayout.scales, x_scales, at.blocks, total);
    scale_sums<Rows>(sum[1], block + kLayout.scales + 2 * kCodedPanel, x_scales, at.blocks, total);
  } else {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) sum[0][r] = _mm512_add_epi32(sum[0][r], sum[1][r]);
    scale_sums<Rows>(sum[0], block + kLayout.scales, x_scales, at.blocks, total);
  }
  if constexpr (HasOffsets) {
    const __m512 offset =
        _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + kLayout.offsets)));
    const float* const sums = at.sums + row * at.blocks + b;
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) total[r] = _mm512_fmadd_ps(offset, _mm512_set1_ps(sums[r * at.blocks]), total[r]);
  }
}

template <int Bits, int Groups, bool HasOffsets, int Rows>
AGON_VNNI void rows_of(const CodedProduct& at, std::int64_t row) {
  constexpr CodedLayout kLayout({.bits = Bits, .group = kBlock / Groups, .middle = 0, .has_offsets = HasOffsets});
  __m512 total[Rows];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) total[r] = _mm512_setzero_ps();
  const std::uint8_t* block = at.panel;
  for (std::int64_t b = 0; b < at.blocks; ++b, block += kLayout.bytes)
    add_block<Bits, Groups, HasOffsets, Rows>(at, block, row, b, total);
  const auto columns = static_cast<__mmask16>((1u << at.columns) - 1);
  for (int r = 0; r < Rows; ++r) {
    float* const y = at.y + (row + r) * at.y_stride;
    if (at.bias) total[r] = _mm512_add_ps(total[r], _mm512_maskz_loadu_ps(columns, at.bias));
    if (at.add) total[r] = _mm512_add_ps(total[r], _mm512_maskz_loadu_ps(columns, y));
    _mm512_mask_storeu_ps(y, columns, total[r]);
  }
}

struct VnniRows {
  template <int Bits, int Groups, bool HasOffsets>
  AGON_VNNI static void multiply(const CodedProduct& at, std::int64_t begin, std::int64_t end) {
    std::int64_t row = begin;
    for (; row + 8 <= end; row += 8) rows_of<Bits, Groups, HasOffsets, 8>(at, row);
    for (; row + 4 <= end; row += 4) rows_of<Bits, Groups, HasOffsets, 4>(at, row);
    for (; row + 2 <= end; row += 2) rows_of<Bits, Groups, HasOffsets, 2>(at, row);
    for (; row < end; ++row) rows_of<Bits, Groups, HasOffsets, 1>(at, row);
  }
};

}  // namespace

CodedProductFunction coded_product_avx512() {
  const bool runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512vnni");
  return runs ? coded_product_of<VnniRows> : nullptr;
}

}  // namespace agon::kernels

#else

namespace agon::kernels {

CodedProductFunction coded_product_avx512() { return nullptr; }

}  // namespace agon::kernels

#endif
