// agents/hub/gguf/key_reader.h - reads single keys of a GGUF file, with errors that name the file, the key and its
// value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/hub/gguf/file.h"
#include "core/json.h"

namespace agon::agents {

// Keeps a reference to the file. A function that returns a plain value throws Error if the key is missing or of another
// kind.
class GgufKeyReader {
 public:
  GgufKeyReader(const GgufFile& file, std::string source) : file_(file), source_(std::move(source)) {}
  [[noreturn]] void fail(const std::string& key, const std::string& what) const;
  const Json* find(const std::string& key) const;  // null if missing or a list
  const Json& at(const std::string& key) const;
  std::string text(const std::string& key) const;
  Json list(const std::string& key) const;
  std::vector<std::string_view> texts(const std::string& key) const;          // views live as long as the file
  std::int64_t number(const std::string& key, std::int64_t least = 1) const;  // whole, below 2^24
  std::int64_t number_or(const std::string& key, std::int64_t otherwise) const;
  std::optional<std::int64_t> id(const std::string& key) const;  // a token id; nullopt: missing, or not an id

 private:
  const GgufFile& file_;
  const std::string source_;
};

}  // namespace agon::agents
