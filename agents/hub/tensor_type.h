// agents/hub/tensor_type.h - the number types of a checkpoint's tensors. GGUF also has quantised types: codes of a few
// bits, 32 or 256 per block with their scales (Q4_0, Q4_1, Q5_0, Q5_1, Q8_0; Q4_K, Q5_K, Q6_K). Layouts are ggml's,
// little-endian.
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
  std::int64_t block = 1;                     // values per block; the last dimension is a multiple of it
  std::int64_t bytes = 4;                     // bytes per block
  std::optional<kernels::CodeFormat> format;  // of a quantised type; nullopt: plain numbers
  // read_number reads one number of a plain type. read_codes reads one block of a quantised type: its codes, and a
  // scale and an offset per group of the format.
  float (*read_number)(const std::uint8_t* bytes) = nullptr;
  void (*read_codes)(const std::uint8_t* block, std::uint8_t* codes, float* scales, float* offsets) = nullptr;
};

// Null: not a type of weights that agon reads.
const TensorType* find_tensor_type(std::string_view name);
// Decodes `bytes` to values. REQUIRES: `bytes` is whole blocks, and `values` has exactly as many values.
void read_values(const TensorType& type, std::span<const std::uint8_t> bytes, std::span<float> values);

// One row of a quantised tensor: a value is scale * (code - middle) + offset.
struct RowCodes {
  std::vector<std::uint8_t> codes;     // [inputs]
  std::vector<float> scales, offsets;  // [inputs / group]; offsets: only if the format has them
};
// REQUIRES: `type` is quantised, and `bytes` holds the blocks of `inputs` values.
void read_row_codes(const TensorType& type, const std::uint8_t* bytes, int inputs, RowCodes& row);

// Quantises values as Q8_0 and Q4_0 do, with one scale per 32 inputs. The scale is the largest magnitude / 127 with
// eight bits, and the value farthest from zero / -8 with four bits. It is NaN if one of its values is not finite.
inline constexpr kernels::CodeFormat kEightBits{.bits = 8, .middle = 128}, kFourBits{.bits = 4, .middle = 8};
void make_row_codes(const kernels::CodeFormat& format, const float* values, int inputs, RowCodes& row);

}  // namespace agon::agents
