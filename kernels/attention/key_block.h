// kernels/attention/key_block.h - byte layout of a block of 16 keys and values (kernels/attention/attention.h).
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace agon::kernels {

inline constexpr int kScaleGroup = 32;  // numbers of a key or value that share a scale

// All numbers are in words of 4 bytes, one or more per word, so that shifts widen a vector of words to vectors of
// numbers. Keys are [words, 16]: a word holds neighbouring dimensions of one key. Values are [words, columns]: a word
// holds one column of neighbouring values. The scales follow: [groups, 16] after the keys, [16, groups] after the
// values.
struct KeyBlockLayout {
  static constexpr std::int64_t kWord = 4;
  constexpr explicit KeyBlockLayout(const KeyFormat& format)
      : value_bytes(format.type == KeyType::f32    ? 4
                    : format.type == KeyType::bf16 ? 2
                                                   : 1),
        in_word(static_cast<int>(kWord) / value_bytes),
        groups(format.type == KeyType::q8 ? (format.head_dim + kScaleGroup - 1) / kScaleGroup : 0),
        value_stride(kWord * kKeyBlock * ((format.head_dim + kKeyBlock - 1) / kKeyBlock)),
        key_scales(kWord * kKeyBlock * ((format.head_dim + in_word - 1) / in_word)),
        values(key_scales + scale_bytes()),
        value_scales(values + kKeyBlock / in_word * value_stride) {}
  constexpr std::int64_t bytes() const { return (value_scales + scale_bytes() + kLine - 1) / kLine * kLine; }
  constexpr std::int64_t key_at(int dimension, int slot) const {
    return (dimension / in_word * kKeyBlock + slot) * kWord + dimension % in_word * value_bytes;
  }
  constexpr std::int64_t value_at(int slot, int column) const {
    return values + slot / in_word * value_stride + column * kWord + slot % in_word * value_bytes;
  }

  int value_bytes, in_word, groups;
  std::int64_t value_stride;  // bytes of a word's columns
  std::int64_t key_scales, values, value_scales;

 private:
  static constexpr std::int64_t kLine = 64;
  constexpr std::int64_t scale_bytes() const {
    return std::int64_t{kKeyBlock} * groups * static_cast<std::int64_t>(sizeof(float));
  }
};

}  // namespace agon::kernels
