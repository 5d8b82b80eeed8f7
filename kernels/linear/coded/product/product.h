// kernels/linear/coded/product/product.h - the inner product of coded_linear (its .cc files only), for the instructions
// of one kind of processor each: rows of codes times one panel of 16 outputs.
//
// A panel is [blocks] of 32 inputs. A block begins with the codes' lower four bits, or all eight. Vector v of 64 bytes
// has at byte 4 n + i the code of output n and input 4 v + i; of 8 bits there are 8 such vectors. Of fewer there are 4,
// with that of vector v + 4 in the upper halves. Then the fifth bits of vectors 0 .. 7, 64 each, and the sixth ones;
// then [32 / group, 16] scales in half precision, and as many offsets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/linear/coded/linear.h"

namespace agon::kernels {

inline constexpr int kCodedPanel = 16, kBlock = 32, kVector = 64;  // outputs, inputs, bytes

struct CodedLayout {
  std::size_t planes, scales, offsets, bytes;  // of a block: where each begins, and its size
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
  const float* sums = nullptr;           // [rows, blocks]: scale * the sum of the codes; of a format with offsets
  const float* bias = nullptr;           // [columns], or null
  float* y = nullptr;                    // rows y_stride apart
  std::int64_t y_stride = 0;
  int columns = kCodedPanel;  // of y, 1 .. 16
  bool add = false;
};

// Rows [begin, end). Each gives the same sums of whole numbers; the products with scales are fused into the total where
// the processor fuses.
using CodedProductFunction = void (*)(const CodedProduct& at, std::int64_t begin, std::int64_t end);
void coded_product_plain(const CodedProduct& at, std::int64_t begin, std::int64_t end);
// Null where this was not compiled for, or runs on, such a processor.
CodedProductFunction coded_product_avx2();
CodedProductFunction coded_product_avx512();  // with VNNI
CodedProductFunction coded_product_neon();    // with SDOT

// A CodedProductFunction: Rows::multiply<Bits, Groups, HasOffsets>() of the format, where Groups is the number of
// scales of a block.
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

// coded_linear() by one of them.
void coded_linear_by(CodedProductFunction product, const CodedLinear& weight, const CodedInputs& x, float* y,
                     std::int64_t y_stride, Store mode, const ParallelFor& parallel);

}  // namespace agon::kernels
