#include "agents/hub/tensor_type.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace agon::agents {
namespace {

using Bytes = const std::uint8_t*;

template <typename Number>
Number number_at(Bytes bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}
float half_at(Bytes bytes) { return half_to_float(number_at<std::uint16_t>(bytes)); }

void read_f32(Bytes bytes, float* values) { *values = number_at<float>(bytes); }
void read_f16(Bytes bytes, float* values) { *values = half_at(bytes); }
void read_bf16(Bytes bytes, float* values) {
  *values = std::bit_cast<float>(static_cast<std::uint32_t>(number_at<std::uint16_t>(bytes)) << 16);
}

// Scale, and 32 values with sign.
void read_q8_0(Bytes bytes, float* values) {
  const float scale = half_at(bytes);
  for (int i = 0; i < 32; ++i) values[i] = scale * static_cast<float>(static_cast<std::int8_t>(bytes[2 + i]));
}

// Of byte i, the low half is value i and the high half is value i + 16; `high` has a fifth bit of each.
void read_halves(Bytes halves, std::uint32_t high, float scale, float offset, float* values) {
  for (int i = 0; i < 16; ++i) {
    const unsigned low_bit = (high >> i & 1) << 4, high_bit = (high >> (i + 16) & 1) << 4;
    values[i] = static_cast<float>((halves[i] & 15u) | low_bit) * scale + offset;
    values[i + 16] = static_cast<float>((halves[i] >> 4u) | high_bit) * scale + offset;
  }
}
// Around zero: 8 and 16 are taken off before the scale, so that the product is rounded once.
void read_signed_halves(Bytes halves, std::uint32_t high, int middle, float scale, float* values) {
  read_halves(halves, high, 1, static_cast<float>(-middle), values);
  for (int i = 0; i < 32; ++i) values[i] *= scale;
}
void read_q4_0(Bytes bytes, float* values) { read_signed_halves(bytes + 2, 0, 8, half_at(bytes), values); }
void read_q5_0(Bytes bytes, float* values) {
  read_signed_halves(bytes + 6, number_at<std::uint32_t>(bytes + 2), 16, half_at(bytes), values);
}
void read_q4_1(Bytes bytes, float* values) { read_halves(bytes + 4, 0, half_at(bytes), half_at(bytes + 2), values); }
void read_q5_1(Bytes bytes, float* values) {
  read_halves(bytes + 8, number_at<std::uint32_t>(bytes + 4), half_at(bytes), half_at(bytes + 2), values);
}

// Of Q4_K and Q5_K: 8 scales and 8 offsets of 6 bits in 12 bytes, for 32 values each.
struct SixBits {
  unsigned scale, offset;
};
SixBits six_bits(Bytes packed, int group) {
  const auto byte = [packed](int i) { return static_cast<unsigned>(packed[i]); };
  if (group < 4) return {byte(group) & 63u, byte(group + 4) & 63u};
  return {(byte(group + 4) & 15u) | (byte(group - 4) >> 6u) << 4u, byte(group + 4) >> 4u | (byte(group) >> 6u) << 4u};
}

// Groups of 64 values share 32 bytes: the low halves are the first 32. `high`: a fifth bit, of each group in turn, or
// null.
void read_k(Bytes bytes, Bytes high, Bytes halves, float* values) {
  const float scale = half_at(bytes), offset = half_at(bytes + 2);
  for (int group = 0; group < 8; ++group) {
    const SixBits six = six_bits(bytes + 4, group);
    const float group_scale = scale * static_cast<float>(six.scale), group_offset = offset * static_cast<float>(six.offset);
    const Bytes packed = halves + group / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      const unsigned half = group % 2 == 0 ? packed[i] & 15u : packed[i] >> 4u;
      const unsigned fifth = high == nullptr ? 0 : (high[i] >> group & 1u) << 4;
      values[group * 32 + i] = group_scale * static_cast<float>(half | fifth) - group_offset;
    }
  }
}
void read_q4_k(Bytes bytes, float* values) { read_k(bytes, nullptr, bytes + 16, values); }
void read_q5_k(Bytes bytes, float* values) { read_k(bytes, bytes + 16, bytes + 48, values); }

// 128 bytes of low halves, 64 of pairs of high bits, 16 scales with sign for 16 values each, and their scale.
void read_q6_k(Bytes bytes, float* values) {
  const float scale = half_at(bytes + 208);
  const Bytes scales = bytes + 192;
  for (int i = 0; i < 256; ++i) {
    const int part = i / 128, row = i % 128 / 32, column = i % 32;
    const unsigned low = bytes[part * 64 + row % 2 * 32 + column];
    const unsigned pair = bytes[128 + part * 32 + column] >> (2 * row) & 3u;
    const int value = static_cast<int>((row < 2 ? low & 15u : low >> 4u) | pair << 4) - 32;
    values[i] = scale * static_cast<float>(static_cast<std::int8_t>(scales[i / 16])) * static_cast<float>(value);
  }
}

template <std::int64_t kBlock, std::int64_t kBytes, void (*kReadBlock)(Bytes, float*)>
constexpr TensorType type_of(std::string_view name) {
  return {name, kBlock, kBytes, [](Bytes bytes, std::int64_t blocks, float* values) {
            for (std::int64_t i = 0; i < blocks; ++i) kReadBlock(bytes + i * kBytes, values + i * kBlock);
          }};
}

constexpr std::array kTypes = {type_of<1, 4, read_f32>("F32"),       type_of<1, 2, read_f16>("F16"),
                               type_of<1, 2, read_bf16>("BF16"),     type_of<32, 34, read_q8_0>("Q8_0"),
                               type_of<32, 18, read_q4_0>("Q4_0"),   type_of<32, 20, read_q4_1>("Q4_1"),
                               type_of<32, 22, read_q5_0>("Q5_0"),   type_of<32, 24, read_q5_1>("Q5_1"),
                               type_of<256, 144, read_q4_k>("Q4_K"), type_of<256, 176, read_q5_k>("Q5_K"),
                               type_of<256, 210, read_q6_k>("Q6_K")};

}  // namespace

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16, rest = half & 0x7fff;
  if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  // Shifted into a float's fields the exponent is too small by 112: a multiplication corrects it, for denormals too.
  return std::bit_cast<float>(sign | rest << 13) * 0x1p112f;
}

const TensorType* find_tensor_type(std::string_view name) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const TensorType& type) { return type.name == name; });
  return found == kTypes.end() ? nullptr : &*found;
}

void read_values(const TensorType& type, std::span<const std::uint8_t> bytes, std::span<float> values) {
  type.read(bytes.data(), std::ssize(bytes) / type.bytes, values.data());
}

}  // namespace agon::agents
