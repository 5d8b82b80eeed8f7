// kernels/half.h - converts between float and IEEE 754 half precision, in which scales are stored.
#pragma once

#include <bit>
#include <cstdint>

namespace agon::kernels {

inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16, rest = half & 0x7fff;
  if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  // Shifted into a float's fields, the exponent is too small by 112. A multiplication corrects that, also for
  // denormals.
  return std::bit_cast<float>(sign | rest << 13) * 0x1p112f;
}

// Rounds to the nearest half, ties to even; infinity from 65,520 on.
inline std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), rest = bits & 0x7fffffff;
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  if (rest > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (rest >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);
  // Adding 2^(exponent of the last bit + 23) makes the processor round a value to that bit.
  const std::uint32_t exponent = rest < 0x38800000 ? 113 : rest >> 23;  // 113: 2^-14, the smallest normal half
  const float magic = std::bit_cast<float>((exponent + 13) << 23);
  const std::uint32_t rounded =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) + magic) - std::bit_cast<std::uint32_t>(magic);
  return static_cast<std::uint16_t>(sign | (((exponent - 113) << 10) + rounded));
}

}  // namespace agon::kernels
