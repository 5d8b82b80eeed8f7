#include "agents/hub/tensor_type.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/half.h"

namespace agon::agents {
namespace {

using Bytes = const std::uint8_t*;

template <typename Number>
Number number_at(Bytes bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}
float half_at(Bytes bytes) { return kernels::half_to_float(number_at<std::uint16_t>(bytes)); }

float read_f32(Bytes bytes) { return number_at<float>(bytes); }
float read_f16(Bytes bytes) { return half_at(bytes); }
float read_bf16(Bytes bytes) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(number_at<std::uint16_t>(bytes)) << 16);
}

void read_q8_0(Bytes block, std::uint8_t* codes, float* scales, float*) {
  scales[0] = half_at(block);
  for (int i = 0; i < 32; ++i) codes[i] = static_cast<std::uint8_t>(block[2 + i] ^ 128);
}

// The low half of byte i is code i, the high half is code i + 16; `high` has the fifth bit of each code.
void read_halves(Bytes halves, std::uint32_t high, std::uint8_t* codes) {
  for (int i = 0; i < 16; ++i) {
    codes[i] = static_cast<std::uint8_t>((halves[i] & 15u) | (high >> i & 1) << 4);
    codes[i + 16] = static_cast<std::uint8_t>((halves[i] >> 4u) | (high >> (i + 16) & 1) << 4);
  }
}
void read_q4_0(Bytes block, std::uint8_t* codes, float* scales, float*) {
  scales[0] = half_at(block);
  read_halves(block + 2, 0, codes);
}
void read_q4_1(Bytes block, std::uint8_t* codes, float* scales, float* offsets) {
  scales[0] = half_at(block);
  offsets[0] = half_at(block + 2);
  read_halves(block + 4, 0, codes);
}
void read_q5_0(Bytes block, std::uint8_t* codes, float* scales, float*) {
  scales[0] = half_at(block);
  read_halves(block + 6, number_at<std::uint32_t>(block + 2), codes);
}
void read_q5_1(Bytes block, std::uint8_t* codes, float* scales, float* offsets) {
  scales[0] = half_at(block);
  offsets[0] = half_at(block + 2);
  read_halves(block + 8, number_at<std::uint32_t>(block + 4), codes);
}

// Q4_K and Q5_K have 8 scales and 8 offsets of 6 bits in 12 bytes, each for 32 values.
struct SixBits {
  unsigned scale, offset;
};
SixBits six_bits(Bytes packed, int group) {
  const auto byte = [packed](int i) { return static_cast<unsigned>(packed[i]); };
  if (group < 4) return {byte(group) & 63u, byte(group + 4) & 63u};
  return {(byte(group + 4) & 15u) | (byte(group - 4) >> 6u) << 4u, byte(group + 4) >> 4u | (byte(group) >> 6u) << 4u};
}

// 64 values share 32 bytes, whose low halves are the first 32 values. `high`: the fifth bits, of each 32 values in
// turn, or null.
void read_k(Bytes block, Bytes high, Bytes halves, std::uint8_t* codes, float* scales, float* offsets) {
  for (int group = 0; group < 8; ++group) {
    const SixBits six = six_bits(block + 4, group);
    scales[group] = half_at(block) * static_cast<float>(six.scale);
    offsets[group] = -half_at(block + 2) * static_cast<float>(six.offset);
    const Bytes packed = halves + group / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      const unsigned half = group % 2 == 0 ? packed[i] & 15u : packed[i] >> 4u;
      const unsigned fifth = high == nullptr ? 0 : (high[i] >> group & 1u) << 4;
      codes[group * 32 + i] = static_cast<std::uint8_t>(half | fifth);
    }
  }
}
void read_q4_k(Bytes block, std::uint8_t* codes, float* scales, float* offsets) {
  read_k(block, nullptr, block + 16, codes, scales, offsets);
}
void read_q5_k(Bytes block, std::uint8_t* codes, float* scales, float* offsets) {
  read_k(block, block + 16, block + 48, codes, scales, offsets);
}
// 128 bytes of low halves, 64 of pairs of high bits, 16 signed scales for 16 values each, and the scale of these.
void read_q6_k(Bytes block, std::uint8_t* codes, float* scales, float*) {
  for (int group = 0; group < 16; ++group)
    scales[group] = half_at(block + 208) * static_cast<float>(static_cast<std::int8_t>(block[192 + group]));
  for (int i = 0; i < 256; ++i) {
    const int part = i / 128, row = i % 128 / 32, column = i % 32;
    const unsigned low = block[part * 64 + row % 2 * 32 + column];
    const unsigned pair = block[128 + part * 32 + column] >> (2 * row) & 3u;
    codes[i] = static_cast<std::uint8_t>((row < 2 ? low & 15u : low >> 4u) | pair << 4);
  }
}

constexpr kernels::CodeFormat around_zero(int bits, int group = 32) {
  return {.bits = bits, .group = group, .middle = 1 << (bits - 1)};
}
constexpr kernels::CodeFormat with_offsets(int bits) { return {.bits = bits, .middle = 0, .has_offsets = true}; }

constexpr TensorType numbers(std::string_view name, std::int64_t bytes, float (*read)(Bytes)) {
  return {.name = name, .block = 1, .bytes = bytes, .read_number = read};
}
constexpr TensorType codes(std::string_view name, std::int64_t block, std::int64_t bytes,
                           const kernels::CodeFormat& format, void (*read)(Bytes, std::uint8_t*, float*, float*)) {
  return {.name = name, .block = block, .bytes = bytes, .format = format, .read_codes = read};
}

constexpr std::array kTypes = {numbers("F32", 4, read_f32),
                               numbers("F16", 2, read_f16),
                               numbers("BF16", 2, read_bf16),
                               codes("Q8_0", 32, 34, around_zero(8), read_q8_0),
                               codes("Q4_0", 32, 18, around_zero(4), read_q4_0),
                               codes("Q4_1", 32, 20, with_offsets(4), read_q4_1),
                               codes("Q5_0", 32, 22, around_zero(5), read_q5_0),
                               codes("Q5_1", 32, 24, with_offsets(5), read_q5_1),
                               codes("Q4_K", 256, 144, with_offsets(4), read_q4_k),
                               codes("Q5_K", 256, 176, with_offsets(5), read_q5_k),
                               codes("Q6_K", 256, 210, around_zero(6, 16), read_q6_k)};

void resize(const kernels::CodeFormat& format, int inputs, RowCodes& row) {
  const auto groups = static_cast<std::size_t>((inputs + format.group - 1) / format.group);
  row.codes.resize(static_cast<std::size_t>(inputs));
  row.scales.resize(groups);
  row.offsets.resize(format.has_offsets ? groups : 0);
}

// Decodes one block of codes to values.
void read_block(const TensorType& type, Bytes bytes, float* values) {
  constexpr int kMost = 256;
  std::uint8_t codes[kMost];
  float scales[kMost / 16], offsets[kMost / 16] = {};
  type.read_codes(bytes, codes, scales, offsets);
  for (int i = 0; i < type.block; ++i) {
    const int group = i / type.format->group;
    values[i] = scales[group] * static_cast<float>(codes[i] - type.format->middle) + offsets[group];
  }
}

}  // namespace

const TensorType* find_tensor_type(std::string_view name) {
  const auto found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const TensorType& type) { return type.name == name; });
  return found == kTypes.end() ? nullptr : &*found;
}

void read_values(const TensorType& type, std::span<const std::uint8_t> bytes, std::span<float> values) {
  const std::int64_t blocks = std::ssize(bytes) / type.bytes;
  for (std::int64_t b = 0; b < blocks; ++b) {
    if (type.format)
      read_block(type, bytes.data() + b * type.bytes, values.data() + b * type.block);
    else
      values[static_cast<std::size_t>(b)] = type.read_number(bytes.data() + b * type.bytes);
  }
}

void read_row_codes(const TensorType& type, const std::uint8_t* bytes, int inputs, RowCodes& row) {
  const int block = static_cast<int>(type.block), groups = block / type.format->group;
  resize(*type.format, inputs, row);
  for (int b = 0; b < inputs / block; ++b)
    type.read_codes(bytes + b * type.bytes, row.codes.data() + b * block, row.scales.data() + b * groups,
                    row.offsets.empty() ? nullptr : row.offsets.data() + b * groups);
}

void make_row_codes(const kernels::CodeFormat& format, const float* values, int inputs, RowCodes& row) {
  resize(format, inputs, row);
  const int highest = (1 << format.bits) - 1;
  for (int first = 0; first < inputs; first += format.group) {
    const int count = std::min(format.group, inputs - first);
    const float* const farthest = std::max_element(values + first, values + first + count, [](float a, float b) {
      return std::abs(a) < std::abs(b) || (std::isnan(b) && !std::isnan(a));
    });
    const float scale =
        format.bits == 8 ? std::abs(*farthest) / 127.0f : *farthest / static_cast<float>(-format.middle);
    const bool has_codes = scale != 0 && std::isfinite(scale);
    row.scales[static_cast<std::size_t>(first / format.group)] =
        std::isfinite(scale) ? scale : std::numeric_limits<float>::quiet_NaN();
    for (int k = first; k < first + count; ++k) {
      const float code = has_codes ? std::nearbyint(values[k] / scale) : 0;
      row.codes[static_cast<std::size_t>(k)] =
          static_cast<std::uint8_t>(std::clamp(static_cast<int>(code) + format.middle, 0, highest));
    }
  }
}

}  // namespace agon::agents
