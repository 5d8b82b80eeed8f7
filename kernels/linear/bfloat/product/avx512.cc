#include "kernels/linear/bfloat/product/product.h"

#if defined(__x86_64__)

#include <algorithm>

#include "kernels/bfloat_vector.h"

namespace agon::kernels {
namespace {

// The next panels. All passes over the present ones together fetch them into the second cache, so that memory works
// while the processor computes.
struct Ahead {
  const char* at;
  std::int64_t step;  // bytes per pair of a panel
};

template <int Rows, int Panels>
AGON_BF16 void rows_of(const BfloatProduct& at, std::int64_t row, std::int64_t panel, Ahead& ahead) {
  const std::int64_t stride = at.pairs * 2, size = at.pairs * 2 * kBfloatPanel;
  const std::uint16_t* const x = at.x + row * stride;
  const std::uint16_t* const weights = at.panels + panel * size;
  __m512 total[Rows][Panels];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int p = 0; p < Panels; ++p) total[r][p] = _mm512_setzero_ps();
  for (std::int64_t k = 0; k < at.pairs; ++k) {
    __m512bh column[Panels];
#pragma GCC unroll 4
    for (int p = 0; p < Panels; ++p) column[p] = load_pairs(weights + p * size + k * 2 * kBfloatPanel);
    for (int p = 0; p < Panels; ++p, ahead.at += ahead.step) _mm_prefetch(ahead.at, _MM_HINT_T1);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const __m512bh value = spread_pair(x + r * stride + 2 * k);
#pragma GCC unroll 4
      for (int p = 0; p < Panels; ++p) total[r][p] = _mm512_dpbf16_ps(total[r][p], column[p], value);
    }
  }
  for (int p = 0; p < Panels; ++p) {
    const std::int64_t first = (panel + p) * kBfloatPanel;
    const auto columns = static_cast<__mmask16>((1u << std::min<std::int64_t>(kBfloatPanel, at.columns - first)) - 1);
    for (int r = 0; r < Rows; ++r) {
      float* const y = at.y + (row + r) * at.y_stride + first;
      __m512 result = total[r][p];
      if (at.bias) result = _mm512_add_ps(result, _mm512_maskz_loadu_ps(columns, at.bias + first));
      if (at.add) result = _mm512_add_ps(result, _mm512_maskz_loadu_ps(columns, y));
      _mm512_mask_storeu_ps(y, columns, result);
    }
  }
}

// Independent chains hide each other's latency, so few rows take more panels at once.
template <int Rows, int Panels>
AGON_BF16 void panels_of(const BfloatProduct& at, std::int64_t row, Ahead& ahead) {
  std::int64_t panel = 0;
  for (; panel + Panels <= at.panel_count; panel += Panels) rows_of<Rows, Panels>(at, row, panel, ahead);
  for (; panel < at.panel_count; ++panel) rows_of<Rows, 1>(at, row, panel, ahead);
}

constexpr std::int64_t kMostRows = 8;  // in a pass over the panels

// With fewer rows, the processor waits for memory anyway.
Ahead ahead_of(const BfloatProduct& at, std::int64_t rows) {
  const std::int64_t passes = (rows + kMostRows - 1) / kMostRows;
  const bool fetches = at.next && rows >= kMostRows;
  return {reinterpret_cast<const char*>(fetches ? at.next : at.panels), fetches ? kVectorBytes / passes : 0};
}

AGON_BF16 void bfloat_product(const BfloatProduct& at, std::int64_t begin, std::int64_t end) {
  Ahead ahead = ahead_of(at, end - begin);
  std::int64_t row = begin;
  for (; row + kMostRows <= end; row += kMostRows) panels_of<kMostRows, 2>(at, row, ahead);
  switch (end - row) {
    case 1:
      return panels_of<1, 4>(at, row, ahead);
    case 2:
      return panels_of<2, 4>(at, row, ahead);
    case 3:
      return panels_of<3, 4>(at, row, ahead);
    case 4:
      return panels_of<4, 2>(at, row, ahead);
    case 5:
      return panels_of<5, 2>(at, row, ahead);
    case 6:
      return panels_of<6, 2>(at, row, ahead);
    case 7:
      return panels_of<7, 2>(at, row, ahead);
  }
}

// Transposes 16 rows of 16 pairs.
AGON_BF16 inline void transpose(__m512i (&rows)[16]) {
  __m512i pairs[16], fours[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      fours[i + 2 * j] = _mm512_unpacklo_epi64(pairs[i + j], pairs[i + 2 + j]);
      fours[i + 2 * j + 1] = _mm512_unpackhi_epi64(pairs[i + j], pairs[i + 2 + j]);
    }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512i low = _mm512_shuffle_i32x4(fours[i], fours[i + 4], 0x88);
    const __m512i high = _mm512_shuffle_i32x4(fours[i], fours[i + 4], 0xdd);
    const __m512i next_low = _mm512_shuffle_i32x4(fours[i + 8], fours[i + 12], 0x88);
    const __m512i next_high = _mm512_shuffle_i32x4(fours[i + 8], fours[i + 12], 0xdd);
    rows[i] = _mm512_shuffle_i32x4(low, next_low, 0x88);
    rows[i + 8] = _mm512_shuffle_i32x4(low, next_low, 0xdd);
    rows[i + 4] = _mm512_shuffle_i32x4(high, next_high, 0x88);
    rows[i + 12] = _mm512_shuffle_i32x4(high, next_high, 0xdd);
  }
}

// Loads 16 pairs of each row, or only the pairs whose bits in `some` are set.
AGON_BF16 inline void load(const BfloatRows& from, std::int64_t k, __mmask16 some, __m512i (&rows)[16]) {
  constexpr std::int64_t kPairBytes = 2 * sizeof(std::uint16_t);
  const std::uint8_t* const at = from.first + k * kPairBytes;
  if (from.count == 16 && some == 0xffff) {
#pragma GCC unroll 16
    for (int n = 0; n < 16; ++n) rows[n] = _mm512_loadu_si512(at + n * from.stride);
  } else {
    for (int n = 0; n < 16; ++n) rows[n] = _mm512_maskz_loadu_epi32(n < from.count ? some : 0, at + n * from.stride);
  }
}

AGON_BF16 void interleave(const BfloatRows& from, std::uint16_t* panel) {
  for (std::int64_t k = 0; k < from.pairs; k += 16) {
    const std::int64_t width = std::min<std::int64_t>(16, from.pairs - k);
    __m512i rows[16];
    load(from, k, static_cast<__mmask16>((1u << width) - 1), rows);
    transpose(rows);
    for (std::int64_t i = 0; i < width; ++i) _mm512_storeu_si512(panel + (k + i) * 2 * kBfloatPanel, rows[i]);
  }
}

}  // namespace

BfloatInterleave bfloat_interleave_avx512() { return bfloat_product_avx512() ? interleave : nullptr; }

BfloatProductFunction bfloat_product_avx512() {
  const bool runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bf16");
  return runs ? bfloat_product : nullptr;
}

}  // namespace agon::kernels

#else

namespace agon::kernels {

BfloatProductFunction bfloat_product_avx512() { return nullptr; }
BfloatInterleave bfloat_interleave_avx512() { return nullptr; }

}  // namespace agon::kernels

#endif
