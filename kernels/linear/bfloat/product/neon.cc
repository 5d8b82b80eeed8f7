#include "kernels/linear/bfloat/product/product.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

#include <cstring>

#include "kernels/vector.h"

#if defined(__clang__)
#define AGON_BF16 [[gnu::target("bf16")]]
#else
#define AGON_BF16 [[gnu::target("arch=armv8.2-a+bf16")]]
#endif

namespace agon::kernels {
namespace {

// Multiplies pairs by two fused multiply-adds in fp32, which every aarch64 processor has: first inputs, then second
// inputs.
struct FusedPairs {
  struct Pairs {
    float32x4_t first, second;
  };
  AGON_INLINE static Pairs read(uint32x4_t pairs) {
    return {vreinterpretq_f32_u32(vshlq_n_u32(pairs, 16)),
            vreinterpretq_f32_u32(vandq_u32(pairs, vdupq_n_u32(0xffff0000)))};
  }
  // total += weights times the pair of inputs at `Lane`.
  template <int Lane>
  AGON_INLINE static void add(const Pairs& weights, const Pairs& inputs, float32x4_t& total) {
    total = vfmaq_laneq_f32(total, weights.first, inputs.first, Lane);
    total = vfmaq_laneq_f32(total, weights.second, inputs.second, Lane);
  }
};

// Multiplies pairs by BFDOT, which adds up both products and then adds their sum to the total. It rounds both results
// to odd: if a result is not exact, its last bit becomes 1. Inline assembly, because clang 14 has the intrinsic only in
// files that are compiled entirely for such processors.
struct DotPairs {
  using Pairs = uint32x4_t;
  AGON_INLINE static Pairs read(uint32x4_t pairs) { return pairs; }
  template <int Lane>
  AGON_INLINE static void add(Pairs weights, Pairs inputs, float32x4_t& total) {
    asm("bfdot %0.4s, %1.8h, %2.2h[%c3]" : "+w"(total) : "w"(weights), "w"(inputs), "i"(Lane));
  }
};

AGON_INLINE uint32x4_t load_pairs(const std::uint16_t* from) { return vreinterpretq_u32_u16(vld1q_u16(from)); }
// Repeats one pair four times.
AGON_INLINE uint32x4_t repeat_pair(const std::uint16_t* from) {
  std::uint32_t pair;
  std::memcpy(&pair, from, sizeof pair);
  return vdupq_n_u32(pair);
}

// Adds one pair of inputs of each row; panels are `size` apart.
template <typename Product, int Rows, int Panels, int Lane>
AGON_INLINE void add_pair(const std::uint16_t* weights, std::int64_t size,
                          const typename Product::Pairs (&inputs)[Rows], float32x4_t (&total)[Rows][4 * Panels]) {
#pragma GCC unroll 8
  for (int q = 0; q < 4 * Panels; ++q) {
    const auto column = Product::read(load_pairs(weights + q / 4 * size + q % 4 * 8));
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) Product::template add<Lane>(column, inputs[r], total[r][q]);
  }
}

AGON_INLINE void finish(const BfloatProduct& at, std::int64_t row, std::int64_t first, const float32x4_t* total) {
  float results[kBfloatPanel];
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) vst1q_f32(results + 4 * q, total[q]);
  float* const y = at.y + row * at.y_stride + first;
  for (int n = 0; n < kBfloatPanel && first + n < at.columns; ++n)
    y[n] = results[n] + (at.bias ? at.bias[first + n] : 0) + (at.add ? y[n] : 0);
}

template <typename Product, int Rows, int Panels>
AGON_INLINE void rows_of(const BfloatProduct& at, std::int64_t row, std::int64_t panel) {
  constexpr std::int64_t kPair = 2 * kBfloatPanel;  // weights
  const std::int64_t stride = at.pairs * 2, size = at.pairs * kPair;
  const std::uint16_t* const x = at.x + row * stride;
  const std::uint16_t* weights = at.panels + panel * size;
  typename Product::Pairs inputs[Rows];
  float32x4_t total[Rows][4 * Panels];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int q = 0; q < 4 * Panels; ++q) total[r][q] = vdupq_n_f32(0);
  std::int64_t k = 0;
  for (; k + 4 <= at.pairs; k += 4, weights += 4 * kPair) {
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) inputs[r] = Product::read(load_pairs(x + r * stride + 2 * k));
    add_pair<Product, Rows, Panels, 0>(weights, size, inputs, total);
    add_pair<Product, Rows, Panels, 1>(weights + kPair, size, inputs, total);
    add_pair<Product, Rows, Panels, 2>(weights + 2 * kPair, size, inputs, total);
    add_pair<Product, Rows, Panels, 3>(weights + 3 * kPair, size, inputs, total);
  }
  for (; k < at.pairs; ++k, weights += kPair) {
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) inputs[r] = Product::read(repeat_pair(x + r * stride + 2 * k));
    add_pair<Product, Rows, Panels, 0>(weights, size, inputs, total);
  }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int p = 0; p < Panels; ++p) finish(at, row + r, (panel + p) * kBfloatPanel, total[r] + 4 * p);
}

template <typename Product, int Rows, int Panels>
AGON_INLINE void panels_of(const BfloatProduct& at, std::int64_t row) {
  std::int64_t panel = 0;
  for (; panel + Panels <= at.panel_count; panel += Panels) rows_of<Product, Rows, Panels>(at, row, panel);
  if constexpr (Panels > 1)
    for (; panel < at.panel_count; ++panel) rows_of<Product, Rows, 1>(at, row, panel);
}

// 8 or more chains hide each other's latency.
template <typename Product>
AGON_INLINE void all_rows(const BfloatProduct& at, std::int64_t begin, std::int64_t end) {
  std::int64_t row = begin;
  for (; row + 4 <= end; row += 4) panels_of<Product, 4, 1>(at, row);
  for (; row + 2 <= end; row += 2) panels_of<Product, 2, 1>(at, row);
  for (; row < end; ++row) panels_of<Product, 1, 2>(at, row);
}

void fused_product(const BfloatProduct& at, std::int64_t begin, std::int64_t end) {
  all_rows<FusedPairs>(at, begin, end);
}
AGON_BF16 void dot_product(const BfloatProduct& at, std::int64_t begin, std::int64_t end) {
  all_rows<DotPairs>(at, begin, end);
}

}  // namespace

BfloatProductFunction bfloat_product_neon() { return fused_product; }
BfloatProductFunction bfloat_product_bfdot() { return getauxval(AT_HWCAP2) & HWCAP2_BF16 ? dot_product : nullptr; }

}  // namespace agon::kernels

#else

namespace agon::kernels {

BfloatProductFunction bfloat_product_neon() { return nullptr; }
BfloatProductFunction bfloat_product_bfdot() { return nullptr; }

}  // namespace agon::kernels

#endif
