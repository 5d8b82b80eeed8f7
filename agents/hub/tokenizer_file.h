// agents/hub/tokenizer_file.h - reads and checks a tokenizer.json of a byte-level BPE.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agents/hub/pretokenize.h"

namespace agon::agents {

struct TokenizerFile {
  std::vector<std::string> bytes;                            // of each id, added tokens included; none is empty
  std::unordered_map<std::string, std::int32_t> vocabulary;  // bytes -> id, without the added tokens; has every byte
  std::vector<std::array<std::int32_t, 3>> merges;           // ids of left, right, result, in order of rank
  std::vector<AddedToken> added;
  bool composes = false;         // texts are in NFC
  bool parts_digits = false;     // each digit is cut out before the text is split into words
  bool words_are_whole = false;  // a word of the vocabulary is its token, whatever merges would make of it
  WordSplit split = WordSplit::qwen2;
};

// Throws Error as Tokenizer::parse does.
TokenizerFile read_tokenizer_file(std::string_view tokenizer_json, const std::string& source);

}  // namespace agon::agents
