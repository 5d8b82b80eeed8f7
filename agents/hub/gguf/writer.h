// agents/hub/gguf/writer.h - writes GGUF files (version 3), as llama.cpp reads them.
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
  std::vector<std::int64_t> shape;  // as in the hub: the last dimension lies together in memory
  std::string_view type;            // F32, F16, BF16, Q8_0 or Q4_0
  // Called once, in the order of the tensors: one row after another, of type F32.
  std::function<void(const std::function<void(const float* row)>& put)> each_row;
};

// The types that write_gguf writes; blocks need rows of a multiple of 32.
bool writes_gguf_type(std::string_view type);
// Atomically. Holds one row at a time. Throws Error as core/file.h, and for a row that is no whole number of blocks.
void write_gguf(const std::filesystem::path& path, const std::vector<GgufKey>& keys,
                const std::vector<GgufTensor>& tensors);

}  // namespace agon::agents
