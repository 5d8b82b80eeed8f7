// agents/hub/gguf/file.h - reads (memory-mapped) GGUF files, as llama.cpp keeps models: keys and tensors in one file.
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

// Owns the mapping; views live as long as it does. Checks everything before a byte is used: lengths, counts, types,
// offsets inside the file, no overlap, no name twice. Throws Error with the file, what is wrong, and the values.
class GgufFile {
 public:
  static std::shared_ptr<const GgufFile> open(const std::filesystem::path& path);
  virtual ~GgufFile() = default;
  // Shapes as hub files have them: the last dimension lies together in memory.
  virtual const std::map<std::string, TensorView>& tensors() const = 0;
  virtual const Json& keys() const = 0;  // {"general.architecture": "llama", ...}, without lists
  // Lists are read from the mapping when they are asked for: a tokenizer's are long.
  virtual std::optional<Json> list(const std::string& key) const = 0;  // nothing: no such list
  // The same of texts alone, which live as long as the mapping.
  virtual std::optional<std::vector<std::string_view>> texts(const std::string& key) const = 0;
};

}  // namespace agon::agents
