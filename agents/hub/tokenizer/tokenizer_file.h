// agents/hub/tokenizer/tokenizer_file.h - reads and checks a tokenizer.json of a BPE: byte-level, or SentencePiece's as
// Llama 2 has it.
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

// Before which texts between added tokens a blank is put: all; those that have none; the first of them, if it has none.
enum class BlankBefore { nothing, every_text, text_without, first_without };

// SentencePiece's BPE: every blank becomes a mark.
struct MarkedBlanks {
  BlankBefore before = BlankBefore::nothing;
  bool in_normalizer = false;           // blanks are marked before added tokens marked "normalized" are searched
  bool begin_words = false;             // no merge joins a mark to another character before it
  bool falls_back_to_bytes = false;     // a character without a token is written with those of its bytes
  std::optional<std::int32_t> unknown;  // the token of such a character otherwise; none: it is left out
  bool fuses_unknown = false;           // one for neighbours
};

struct TokenizerFile {
  std::vector<std::string> bytes;                   // of each id, added tokens included; none is empty
  TokenIds vocabulary;                              // as bytes, or as SentencePiece writes it; without special tokens
  std::vector<std::array<std::int32_t, 3>> merges;  // ids of left, right, result, in order of rank
  std::vector<AddedToken> added;
  std::optional<MarkedBlanks> blanks;  // byte-level if there are none
  std::size_t dropped_blanks = 0;      // at most so many at the beginning of a text are left out when it is decoded
  // Of byte-level BPE alone:
  bool composes = false;         // texts are in NFC
  bool parts_digits = false;     // each digit is cut out before the text is split into words
  bool words_are_whole = false;  // a word of the vocabulary is its token, whatever merges would make of it
  WordSplit split = WordSplit::qwen2;
};

// Throws Error as Tokenizer::parse does.
TokenizerFile read_tokenizer_file(const TokenizerParts& parts, const std::string& source);

}  // namespace agon::agents
