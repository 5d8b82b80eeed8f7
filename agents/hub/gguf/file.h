// agents/hub/gguf/file.h - reads (memory-mapped) GGUF files, llama.cpp's model format with keys and tensors in one
// file.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/hub/safetensors.h"
#include "core/json.h"

namespace agon::agents {

// Owns the mapping; views live as long as it does. Opening checks everything first: lengths, counts, types, offsets
// inside the file, no overlap, no duplicate names. Throws Error with the file, what is wrong, and the values.
class GgufFile {
 public:
  static std::shared_ptr<const GgufFile> open(const std::filesystem::path& path);
  virtual ~GgufFile() = default;
  // Shapes are in the hub's order: the last dimension is contiguous in memory.
  virtual const std::map<std::string, TensorView>& tensors() const = 0;
  virtual const Json& keys() const = 0;  // {"general.architecture": "llama", ...}, without lists
  // Reads a list from the mapping on each call, since a tokenizer's lists are long.
  virtual std::optional<Json> list(const std::string& key) const = 0;  // nullopt: no such list
  // The same for a list of texts; the views live as long as the mapping.
  virtual std::optional<std::vector<std::string_view>> texts(const std::string& key) const = 0;
};

}  // namespace agon::agents
