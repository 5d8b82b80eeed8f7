// agents/hub/tensor_type.h - the types of a checkpoint's numbers. GGUF also keeps them as codes of a few bits, 32 or
// 256 in a block with their scales (Q4_0, Q4_1, Q5_0, Q5_1, Q8_0; Q4_K, Q5_K, Q6_K). Layouts as ggml's, little-endian.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/linear/coded/linear.h"

namespace agon::agents {

struct TensorType {
  std::string_view name;                      // as safetensors and GGUF name it: "F32", "BF16", "Q4_K"
  std::int64_t block = 1;                     // values a block; the last dimension is a multiple of it
  std::int64_t bytes = 4;                     // a block
  std::optional<kernels::CodeFormat> format;  // of codes; nothing: of numbers
  // One block. Of numbers: values. Of codes: the codes, and a scale and an offset for each group of the format.
  float (*read_number)(const std::uint8_t* bytes) = nullptr;
  void (*read_codes)(const std::uint8_t* block, std::uint8_t* codes, float* scales, float* offsets) = nullptr;
};

// Null: not a type of weights that agon reads.
const TensorType* find_tensor_type(std::string_view name);
// bytes.size() / type.bytes blocks -> values. REQUIRES: whole blocks, and as many values as they hold.
void read_values(const TensorType& type, std::span<const std::uint8_t> bytes, std::span<float> values);

// One row of a tensor in codes: a value is scale * (code - middle) + offset.
struct RowCodes {
  std::vector<std::uint8_t> codes;     // [inputs]
  std::vector<float> scales, offsets;  // [inputs / group]; offsets: of a format that has them
};
// REQUIRES: a type of codes; `bytes` holds the blocks of `inputs`.
void read_row_codes(const TensorType& type, const std::uint8_t* bytes, int inputs, RowCodes& row);

// Of values: eight bits around zero with a scale for each 32 inputs, the largest of them / 127; four bits, the value
// farthest from zero / -8, as Q8_0 and Q4_0 are made. A scale is NaN where one of its values is not finite.
inline constexpr kernels::CodeFormat kEightBits{.bits = 8, .middle = 128}, kFourBits{.bits = 4, .middle = 8};
void make_row_codes(const kernels::CodeFormat& format, const float* values, int inputs, RowCodes& row);

}  // namespace agon::agents
