#include "kernels/linear/coded/product/product.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

#if defined(__clang__)
#define AGON_DOT [[gnu::target("dotprod")]]
#else
#define AGON_DOT [[gnu::target("arch=armv8.2-a+dotprod")]]
#endif

namespace agon::kernels {
namespace {

constexpr int kQuarter = kVector / 4;  // bytes: 4 outputs of 4 inputs

// Expands bits 16 q .. 16 q + 15 to bytes: `value` for a set bit, else 0.
AGON_DOT inline uint8x16_t spread(uint8x16_t bits, int q, std::uint8_t value) {
  const auto first = static_cast<std::uint8_t>(2 * q);
  const uint8x16_t order = vcombine_u8(vdup_n_u8(first), vdup_n_u8(first + 1));
  const uint8x16_t each = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
  return vandq_u8(vtstq_u8(vqtbl1q_u8(bits, order), each), vdupq_n_u8(value));
}

// Returns the codes of quarter `quarter` + q. 8-bit codes have 128 subtracted, because SDOT reads signed bytes.
template <int Bits>
AGON_DOT inline int8x16_t codes_at(const std::uint8_t* block, const CodedLayout& layout, int vector, int quarter,
                                   int q) {
  uint8x16_t codes = vld1q_u8(block + (Bits == 8 ? vector : vector % 4) * kVector + (quarter + q) * kQuarter);
  if constexpr (Bits == 8) {
    codes = veorq_u8(codes, vdupq_n_u8(128));
  } else {
    // The bits of all quarters, starting at `quarter`; the bytes after them are not used.
    const std::uint8_t* const bits = block + layout.planes + 8 * vector + 2 * quarter;
    codes = vector < 4 ? vandq_u8(codes, vdupq_n_u8(15)) : vshrq_n_u8(codes, 4);
    if constexpr (Bits == 5 || Bits == 6) codes = vorrq_u8(codes, spread(vld1q_u8(bits), q, 16));
    if constexpr (Bits == 6) codes = vorrq_u8(codes, spread(vld1q_u8(bits + kVector), q, 32));
  }
  return vreinterpretq_s8_u8(codes);
}

// sum += the products of 4 inputs, the ones at `Lane` of 16. Inline assembly, because clang 14 has the intrinsic only
// in files that are compiled entirely for such processors.
template <int Lane>
AGON_DOT inline void add_dot(int8x16_t codes, int8x16_t inputs, int32x4_t& sum) {
  asm("sdot %0.4s, %1.16b, %2.4b[%c3]" : "+w"(sum) : "w"(codes), "w"(inputs), "i"(Lane));
}

template <int Bits, int Rows, int Quarters, int Lane>
AGON_DOT inline void add_vector(const std::uint8_t* block, const CodedLayout& layout, int half, int quarter,
                                const int8x16_t (&inputs)[Rows], int32x4_t (&sum)[Rows][Quarters]) {
#pragma GCC unroll 4
  for (int q = 0; q < Quarters; ++q) {
    const int8x16_t codes = codes_at<Bits>(block, layout, 4 * half + Lane, quarter, q);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) add_dot<Lane>(codes, inputs[r], sum[r][q]);
  }
}

// Adds the products of the first or the last 16 inputs of the block.
template <int Bits, int Rows, int Quarters>
AGON_DOT inline void add_half(const std::uint8_t* block, const CodedLayout& layout, int half, int quarter,
                              const std::int8_t* x, std::int64_t stride, int32x4_t (&sum)[Rows][Quarters]) {
  int8x16_t inputs[Rows];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) inputs[r] = vld1q_s8(x + r * stride + half * kBlock / 2);
  add_vector<Bits, Rows, Quarters, 0>(block, layout, half, quarter, inputs, sum);
  add_vector<Bits, Rows, Quarters, 1>(block, layout, half, quarter, inputs, sum);
  add_vector<Bits, Rows, Quarters, 2>(block, layout, half, quarter, inputs, sum);
  add_vector<Bits, Rows, Quarters, 3>(block, layout, half, quarter, inputs, sum);
}

AGON_DOT inline float32x4_t halves_at(const std::uint8_t* from) {
  return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(from)));
}

// total += the sums times both scales.
template <int Rows, int Quarters>
AGON_DOT inline void scale_sums(const int32x4_t (&sum)[Rows][Quarters], const std::uint8_t* scales,
                                const float* x_scales, std::int64_t stride, float32x4_t (&total)[Rows][Quarters]) {
#pragma GCC unroll 4
  for (int q = 0; q < Quarters; ++q) {
    const float32x4_t scale = halves_at(scales + 8 * q);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
      total[r][q] = vfmaq_f32(total[r][q], vcvtq_f32_s32(sum[r][q]), vmulq_n_f32(scale, x_scales[r * stride]));
  }
}

template <int Bits, int Groups, bool HasOffsets, int Rows, int Quarters>
AGON_DOT inline void add_block(const CodedProduct& at, const std::uint8_t* block, std::int64_t row, std::int64_t b,
                               int quarter, float32x4_t (&total)[Rows][Quarters]) {
  constexpr CodedLayout kLayout({.bits = Bits, .group = kBlock / Groups, .middle = 0, .has_offsets = HasOffsets});
  const std::int64_t stride = at.blocks * kBlock;
  const std::int8_t* const x = at.codes + row * stride + b * kBlock;
#pragma GCC unroll 2
  for (int g = 0; g < Groups; ++g) {
    const std::int32_t* const starts = at.starts + (row * at.blocks + b) * Groups + g;
    int32x4_t sum[Rows][Quarters];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (int q = 0; q < Quarters; ++q) sum[r][q] = vdupq_n_s32(Bits == 8 ? 0 : starts[r * at.blocks * Groups]);
    add_half<Bits, Rows, Quarters>(block, kLayout, g, quarter, x, stride, sum);
    if constexpr (Groups == 1) add_half<Bits, Rows, Quarters>(block, kLayout, 1, quarter, x, stride, sum);
    scale_sums<Rows, Quarters>(sum, block + kLayout.scales + (g * kCodedPanel + quarter * 4) * 2,
                               at.scales + row * at.blocks + b, at.blocks, total);
  }
  if constexpr (HasOffsets) {
#pragma GCC unroll 4
    for (int q = 0; q < Quarters; ++q) {
      const float32x4_t offset = halves_at(block + kLayout.offsets + (quarter + q) * 8);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) total[r][q] = vfmaq_n_f32(total[r][q], offset, at.sums[(row + r) * at.blocks + b]);
    }
  }
}

// Computes `Quarters` quarters of the panel's outputs, starting at `quarter`.
template <int Bits, int Groups, bool HasOffsets, int Rows, int Quarters>
AGON_DOT void rows_of(const CodedProduct& at, std::int64_t row, int quarter) {
  constexpr CodedLayout kLayout({.bits = Bits, .group = kBlock / Groups, .middle = 0, .has_offsets = HasOffsets});
  float32x4_t total[Rows][Quarters];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int q = 0; q < Quarters; ++q) total[r][q] = vdupq_n_f32(0);
  const std::uint8_t* block = at.panel;
  for (std::int64_t b = 0; b < at.blocks; ++b, block += kLayout.bytes)
    add_block<Bits, Groups, HasOffsets, Rows, Quarters>(at, block, row, b, quarter, total);
  const int first = 4 * quarter;
  for (int r = 0; r < Rows; ++r) {
    float results[4 * Quarters];
#pragma GCC unroll 4
    for (int q = 0; q < Quarters; ++q) vst1q_f32(results + 4 * q, total[r][q]);
    for (int n = first; n < at.columns && n < first + 4 * Quarters; ++n) {
      float& y = at.y[(row + r) * at.y_stride + n];
      y = results[n - first] + (at.bias ? at.bias[n] : 0) + (at.add ? y : 0);
    }
  }
}

// Sums and totals of 8 vectors each fit in the registers and are enough chains to hide each other's latency.
struct DotRows {
  template <int Bits, int Groups, bool HasOffsets>
  AGON_DOT static void multiply(const CodedProduct& at, std::int64_t begin, std::int64_t end) {
    std::int64_t row = begin;
    for (; row + 4 <= end; row += 4)
      for (int quarter = 0; quarter < 4 && 4 * quarter < at.columns; quarter += 2)
        rows_of<Bits, Groups, HasOffsets, 4, 2>(at, row, quarter);
    for (; row + 2 <= end; row += 2) rows_of<Bits, Groups, HasOffsets, 2, 4>(at, row, 0);
    for (; row < end; ++row) rows_of<Bits, Groups, HasOffsets, 1, 4>(at, row, 0);
  }
};

}  // namespace

CodedProductFunction coded_product_neon() {
  return getauxval(AT_HWCAP) & HWCAP_ASIMDDP ? coded_product_of<DotRows> : nullptr;
}

}  // namespace agon::kernels

#else

namespace agon::kernels {

CodedProductFunction coded_product_neon() { return nullptr; }

}  // namespace agon::kernels

#endif
