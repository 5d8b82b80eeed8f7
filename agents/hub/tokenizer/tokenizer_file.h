// agents/hub/tokenizer/tokenizer_file.h - reads and checks the tokenizer.json of a BPE tokenizer, either byte-level or
// SentencePiece's as in Llama 2.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agents/hub/tokenizer/pretokenize.h"
#include "agents/hub/tokenizer/tokenizer_parts.h"

namespace agon::agents {

struct TextHash : std::hash<std::string_view> {
  using is_transparent = void;
};
using TokenIds = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;

inline constexpr std::string_view kBlankMark = "\u2581";  // "▁"
std::string byte_token(int byte);                         // "<0xE4>", the token of a byte in SentencePiece's BPE

// Which texts between added tokens get a blank before them: none; every one; every one that does not start with a
// blank; or only the first, if it does not start with one.
enum class BlankBefore { nothing, every_text, text_without, first_without };

// Settings of SentencePiece's BPE, in which every blank becomes a mark.
struct MarkedBlanks {
  BlankBefore before = BlankBefore::nothing;
  bool in_normalizer = false;        // blanks are marked before "normalized" added tokens are searched for
  bool begin_words = false;          // marks begin words: no merge joins a mark to a character before it
  bool falls_back_to_bytes = false;  // a character without a token becomes the tokens of its bytes
  // Without that: the token for a character that has none; nullopt: the character is dropped.
  std::optional<std::int32_t> unknown;
  bool fuses_unknown = false;  // neighbouring unknown characters share one token
};

struct TokenizerFile {
  std::vector<std::string> bytes;                   // of each id, including added tokens; never empty
  TokenIds vocabulary;                              // by bytes, or by SentencePiece's text; without special tokens
  std::vector<std::array<std::int32_t, 3>> merges;  // ids of left, right, result, in order of rank
  std::vector<AddedToken> added;
  std::optional<MarkedBlanks> blanks;  // nullopt: byte-level
  std::size_t dropped_blanks = 0;      // most blanks dropped at the start of a decoded text
  // Only for byte-level BPE:
  bool composes = false;         // texts are converted to NFC
  bool parts_digits = false;     // each digit is split off before the split into words
  bool words_are_whole = false;  // a word in the vocabulary becomes its token without merges
  WordSplit split = WordSplit::qwen2;
};

// Throws Error like Tokenizer::parse.
TokenizerFile read_tokenizer_file(const TokenizerParts& parts, const std::string& source);

}  // namespace agon::agents
