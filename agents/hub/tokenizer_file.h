// agents/hub/tokenizer_file.h - reads and checks a tokenizer.json of the Qwen2 family.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace agon::agents {

struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool special = false;
  bool normalized = false;  // searched in the text's NFC, not in the text as it is
};

struct TokenizerFile {
  std::vector<std::string> bytes;                            // of each id, added tokens included; none is empty
  std::unordered_map<std::string, std::int32_t> vocabulary;  // bytes -> id, without the added tokens; has every byte
  std::vector<std::array<std::int32_t, 3>> merges;           // ids of left, right, result, in order of rank
  std::vector<AddedToken> added;
};

// Throws Error as Tokenizer::parse does.
TokenizerFile read_tokenizer_file(std::string_view tokenizer_json, const std::string& source);

}  // namespace agon::agents
