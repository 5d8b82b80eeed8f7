// kernels/attention/key_block.h - where the keys and values of a block lie (kernels/attention/attention.h), in bytes.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"

namespace agon::kernels {

inline constexpr int kScaleGroup = 32;  // values of a key that share a scale

// Keys are [head_dim, 16], their scales [groups, 16]; values [16, width], their scales [16, groups].
struct KeyBlockLayout {
  constexpr explicit KeyBlockLayout(const KeyFormat& format)
      : value_bytes(format.type == KeyType::f32    ? 4
                    : format.type == KeyType::bf16 ? 2
                                                   : 1),
        width((format.head_dim + kKeyBlock - 1) / kKeyBlock * kKeyBlock),
        groups(format.type == KeyType::q8 ? (format.head_dim + kScaleGroup - 1) / kScaleGroup : 0),
        key_scales(std::int64_t{kKeyBlock} * format.head_dim * value_bytes),
        values(key_scales + scale_bytes()),
        value_scales(values + std::int64_t{kKeyBlock} * width * value_bytes) {}
  constexpr std::int64_t bytes() const { return (value_scales + scale_bytes() + kLine - 1) / kLine * kLine; }

  int value_bytes, width, groups;
  std::int64_t key_scales, values, value_scales;

 private:
  static constexpr std::int64_t kLine = 64;
  constexpr std::int64_t scale_bytes() const {
    return std::int64_t{kKeyBlock} * groups * static_cast<std::int64_t>(sizeof(float));
  }
};

}  // namespace agon::kernels
