// kernels/linear/coded/product/product.h - the inner loop of coded_linear (for its .cc files only): rows of codes times
// one panel of 16 outputs, with one function per kind of processor.
//
// A panel is a list of blocks of 32 inputs. A block begins with the codes: all eight bits, or the lower four. Vector v
// of 64 bytes holds at byte 4 n + i the code of output n and input 4 v + i. Codes of 8 bits take 8 such vectors.
// Shorter codes take 4: the upper half of each byte holds the code from vector v + 4. Next, if the codes have them, are
// the fifth bits of vectors 0 .. 7, 64 bits each, and the sixth bits. Last are [32 / group, 16] scales in half
// precision and, if the format has offsets, the same number of offsets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/linear/coded/linear.h"

namespace agon::kernels {

inline constexpr int kCodedPanel = 16, kBlock = 32, kVector = 64;  // outputs, inputs, bytes

struct CodedLayout {
  std::size_t planes, scales, offsets, bytes;  // where the parts of a block begin, and its size
  explicit constexpr CodedLayout(const CodeFormat& format)
      : planes(format.bits == 8 ? 8 * kVector : 4 * kVector),
        scales(planes + (format.bits == 5   ? kVector
                         : format.bits == 6 ? 2 * kVector
                                            : 0)),
        offsets(scales + static_cast<std::size_t>(kBlock / format.group) * kCodedPanel * sizeof(std::uint16_t)),
        bytes(format.has_offsets ? 2 * offsets - scales : offsets) {}
};

struct CodedProduct {
  CodeFormat format;
  const std::uint8_t* panel = nullptr;
  std::int64_t blocks = 0;
  const std::int8_t* codes = nullptr;    // [rows, blocks * 32]
  const float* scales = nullptr;         // [rows, blocks]
  const std::int32_t* starts = nullptr;  // [rows, blocks * (32 / group)]: -middle * the sum of the codes
  const float* sums = nullptr;           // [rows, blocks]: scale * the sum of the codes; for formats with offsets
  const float* bias = nullptr;           // [columns], or null
  float* y = nullptr;                    // rows y_stride apart
  std::int64_t y_stride = 0;
  int columns = kCodedPanel;  // of y, 1 .. 16
  bool add = false;
};

// Computes rows [begin, end). All functions give the same integer sums; the products with scales are fused into the
// total if the processor has fused multiply-adds.
using CodedProductFunction = void (*)(const CodedProduct& at, std::int64_t begin, std::int64_t end);
void coded_product_plain(const CodedProduct& at, std::int64_t begin, std::int64_t end);
// Null if this build or this processor does not have the instructions.
CodedProductFunction coded_product_avx2();
CodedProductFunction coded_product_avx512();  // with VNNI
CodedProductFunction coded_product_neon();    // with SDOT

// A CodedProductFunction that calls Rows::multiply<Bits, Groups, HasOffsets>() for the format, where Groups is the
// number of scales per block.
template <typename Rows, int Bits>
void coded_product_of_bits(const CodedProduct& at, std::int64_t begin, std::int64_t end) {
  if (at.format.has_offsets)
    Rows::template multiply<Bits, 1, true>(at, begin, end);
  else if (at.format.group == kBlock)
    Rows::template multiply<Bits, 1, false>(at, begin, end);
  else
    Rows::template multiply<Bits, 2, false>(at, begin, end);
}
template <typename Rows>
void coded_product_of(const CodedProduct& at, std::int64_t begin, std::int64_t end) {
  switch (at.format.bits) {
    case 4:
      return coded_product_of_bits<Rows, 4>(at, begin, end);
    case 5:
      return coded_product_of_bits<Rows, 5>(at, begin, end);
    case 6:
      return coded_product_of_bits<Rows, 6>(at, begin, end);
    default:
      return coded_product_of_bits<Rows, 8>(at, begin, end);
  }
}

// coded_linear() with the given product function.
void coded_linear_by(CodedProductFunction product, const CodedLinear& weight, const CodedInputs& x, float* y,
                     std::int64_t y_stride, Store mode, const ParallelFor& parallel);

}  // namespace agon::kernels
