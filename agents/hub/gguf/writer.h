// agents/hub/gguf/writer.h - writes GGUF files (version 3) for llama.cpp and for agon.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace agon::agents {

using GgufValue = std::variant<std::string, std::uint32_t, float, bool, std::vector<std::string>,
                               std::vector<std::int32_t>, std::vector<float>, std::vector<bool>>;
struct GgufKey {
  std::string name;
  GgufValue value;
};

struct GgufTensor {
  std::string name;
  std::vector<std::int64_t> shape;  // in the hub's order: the last dimension is contiguous
  std::string_view type;            // F32, F16, BF16, Q8_0 or Q4_0
  // Passes the rows to `put` one after another, as F32. Called once per tensor, in the order of the tensors.
  std::function<void(const std::function<void(const float* row)>& put)> each_row;
};

// Whether write_gguf can write the type. The block types need rows of a multiple of 32 values.
bool writes_gguf_type(std::string_view type);
// Replaces the file atomically. Holds one row in memory at a time. Throws Error like core/file.h, and for a row that is
// not a whole number of blocks.
void write_gguf(const std::filesystem::path& path, const std::vector<GgufKey>& keys,
                const std::vector<GgufTensor>& tensors);

}  // namespace agon::agents
