// agents/hub/tensor_type.h - the types of a checkpoint's numbers, and those in blocks: GGUF keeps 32 or 256 values with
// their scales together (Q4_0, Q4_1, Q5_0, Q5_1, Q8_0; Q4_K, Q5_K, Q6_K). Layouts as ggml's, little-endian.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace agon::agents {

float half_to_float(std::uint16_t half);  // IEEE 754 binary16

// How a type lies in memory, and what reads it.
struct TensorType {
  std::string_view name;     // as safetensors and GGUF name it: "F32", "BF16", "Q4_K"
  std::int64_t block = 1;    // values a block; the last dimension is a multiple of it
  std::int64_t bytes = 4;    // a block
  void (*read)(const std::uint8_t* bytes, std::int64_t blocks, float* values) = nullptr;
};

// Null: not a type of weights that agon reads.
const TensorType* find_tensor_type(std::string_view name);
// bytes.size() / type.bytes blocks -> values. REQUIRES: whole blocks, and as many values as they hold.
void read_values(const TensorType& type, std::span<const std::uint8_t> bytes, std::span<float> values);

}  // namespace agon::agents
