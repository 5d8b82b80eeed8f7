// kernels/attention/key_block.h - where the keys and values of a block lie (kernels/attention/attention.h), in bytes.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace agon::kernels {

inline constexpr int kScaleGroup = 32;  // values of a key that share a scale

// All values lie in words of 4 bytes, one or more a word, so that a vector of words is widened to vectors of values by
// shifts. Keys are [words, 16]: a word has neighbouring dimensions of one key. Values are [16, words]: a word has the
// columns c, c + 16, ... of one value. Behind them are their scales, [groups, 16] and [16, groups].
struct KeyBlockLayout {
  static constexpr std::int64_t kWord = 4;
  constexpr explicit KeyBlockLayout(const KeyFormat& format)
      : value_bytes(format.type == KeyType::f32    ? 4
                    : format.type == KeyType::bf16 ? 2
                                                   : 1),
        in_word(static_cast<int>(kWord) / value_bytes),
        groups(format.type == KeyType::q8 ? (format.head_dim + kScaleGroup - 1) / kScaleGroup : 0),
        value_stride(kWord * kKeyBlock * ((format.head_dim + kKeyBlock * in_word - 1) / (kKeyBlock * in_word))),
        key_scales(kWord * kKeyBlock * ((format.head_dim + in_word - 1) / in_word)),
        values(key_scales + scale_bytes()),
        value_scales(values + kKeyBlock * value_stride) {}
  constexpr std::int64_t bytes() const { return (value_scales + scale_bytes() + kLine - 1) / kLine * kLine; }
  constexpr std::int64_t key_at(int dimension, int slot) const {
    return (dimension / in_word * kKeyBlock + slot) * kWord + dimension % in_word * value_bytes;
  }
  constexpr std::int64_t value_at(int slot, int column) const {
    const int vector = column / kKeyBlock;
    return values + slot * value_stride + (vector / in_word * kKeyBlock + column % kKeyBlock) * kWord +
           vector % in_word * value_bytes;
  }

  int value_bytes, in_word, groups;
  std::int64_t value_stride, key_scales, values, value_scales;

 private:
  static constexpr std::int64_t kLine = 64;
  constexpr std::int64_t scale_bytes() const {
    return std::int64_t{kKeyBlock} * groups * static_cast<std::int64_t>(sizeof(float));
  }
};

}  // namespace agon::kernels
