#include "kernels/half.h"
#include "kernels/linear/coded/product/product.h"

namespace agon::kernels {
namespace {

// The codes of one block as [32 inputs][16 outputs].
void unpack(const CodedProduct& at, const CodedLayout& layout, const std::uint8_t* block,
            std::int32_t (&codes)[kBlock][kCodedPanel]) {
  for (int input = 0; input < kBlock; ++input) {
    const int vector = input / 4, part = input % 4;
    for (int n = 0; n < kCodedPanel; ++n) {
      const int byte = 4 * n + part;
      if (at.format.bits == 8) {
        codes[input][n] = block[vector * kVector + byte];
        continue;
      }
      const int packed = block[vector % 4 * kVector + byte];
      int code = vector < 4 ? packed & 15 : packed >> 4;
      for (int plane = 0; plane < at.format.bits - 4; ++plane) {
        const std::uint8_t* const bits = block + layout.planes + plane * kVector + vector * 8;
        code |= (bits[byte / 8] >> (byte % 8) & 1) << (4 + plane);
      }
      codes[input][n] = code;
    }
  }
}

void add_block(const CodedProduct& at, const CodedLayout& layout, const std::uint8_t* block, std::int64_t row,
               std::int64_t b, const std::int32_t (&codes)[kBlock][kCodedPanel], float (&totals)[kCodedPanel]) {
  const int group = at.format.group, groups = kBlock / group;
  const std::int8_t* const x = at.codes + (row * at.blocks + b) * kBlock;
  const float scale = at.scales[row * at.blocks + b];
  const auto* const halves = reinterpret_cast<const std::uint16_t*>(block + layout.scales);
  for (int g = 0; g < groups; ++g) {
    std::int32_t sums[kCodedPanel];
    for (std::int32_t& sum : sums) sum = at.starts[(row * at.blocks + b) * groups + g];
    for (int input = g * group; input < (g + 1) * group; ++input)
      for (int n = 0; n < kCodedPanel; ++n) sums[n] += codes[input][n] * x[input];
    for (int n = 0; n < kCodedPanel; ++n)
      totals[n] += static_cast<float>(sums[n]) * (half_to_float(halves[g * kCodedPanel + n]) * scale);
  }
  if (!at.format.has_offsets) return;
  const auto* const offsets = reinterpret_cast<const std::uint16_t*>(block + layout.offsets);
  for (int n = 0; n < kCodedPanel; ++n) totals[n] += half_to_float(offsets[n]) * at.sums[row * at.blocks + b];
}

}  // namespace

void coded_product_plain(const CodedProduct& at, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kRows = 8;
  const CodedLayout layout(at.format);
  std::int32_t codes[kBlock][kCodedPanel];
  for (std::int64_t first = begin; first < end; first += kRows) {
    const std::int64_t rows = end - first < kRows ? end - first : kRows;
    float totals[kRows][kCodedPanel] = {};
    for (std::int64_t b = 0; b < at.blocks; ++b) {
      const std::uint8_t* const block = at.panel + static_cast<std::size_t>(b) * layout.bytes;
      unpack(at, layout, block, codes);
      for (std::int64_t r = 0; r < rows; ++r) add_block(at, layout, block, first + r, b, codes, totals[r]);
    }
    for (std::int64_t r = 0; r < rows; ++r)
      for (int n = 0; n < at.columns; ++n) {
        float& y = at.y[(first + r) * at.y_stride + n];
        y = totals[r][n] + (at.bias ? at.bias[n] : 0) + (at.add ? y : 0);
      }
  }
}

}  // namespace agon::kernels
