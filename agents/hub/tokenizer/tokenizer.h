// agents/hub/tokenizer/tokenizer.h - converts text to token ids and back, with a BPE tokenizer read from the hub's
// tokenizer.json. Immutable after construction, thread-safe. Two kinds are supported:
// - Byte-level (GPT-2, SmolLM2, Llama 3, Qwen2 and 3): added tokens are split off, then NFC if the file asks for it,
//   the family's split into words, byte map, merges by rank.
// - SentencePiece (Llama 2, TinyLlama, Mistral): added tokens are split off, blanks marked, characters merged by rank.
// A token that the post-processor would put before every text is not added, because chat templates write it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agon::agents {

struct TokenizerParts;

// The position of an encoded or decoded part within a whole text. It matters for SentencePiece's tokenizers, which put
// a blank before a text and drop it when decoding.
enum class TextPlace {
  start,        // at the beginning
  after_token,  // right after an added token, such as one that a chat template writes
  within        // after other text: no blank is added or dropped
};

class Tokenizer {
 public:
  // Parses the text of a tokenizer.json; `source` names the file. Throws Error for a file that is not JSON, another
  // model or pipeline, a printable ASCII character without a token (byte-level), a byte without a fallback token
  // (SentencePiece), gaps in the ids, and a merge of unknown tokens.
  static std::unique_ptr<Tokenizer> parse(std::string_view tokenizer_json, const std::string& source);
  // Makes the same tokenizer from parts; `json` returns the text from which they were read.
  static std::unique_ptr<Tokenizer> make(const TokenizerParts& parts, std::function<std::string()> json,
                                         const std::string& source);
  virtual ~Tokenizer() = default;

  // with_special_tokens = false: a special token's text such as "<|im_end|>" is plain text (for all text from a user or
  // an env). A byte for which the vocabulary has no token is left out (SmolLM2 has none for 21 of them). Added tokens
  // that are not special ("<answer>") are always tokens.
  virtual std::vector<std::int32_t> encode(std::string_view text, bool with_special_tokens = true,
                                           TextPlace place = TextPlace::start) const = 0;
  // The bytes of the ids; special tokens are left out if skip_special. Invalid UTF-8 is kept as bytes.
  virtual std::string decode(std::span<const std::int32_t> ids, bool skip_special = true,
                             TextPlace place = TextPlace::start) const = 0;
  // The bytes of the token when it follows other text. Empty for an id without a token.
  virtual std::string token_bytes(std::int32_t id) const = 0;
  virtual std::optional<std::int32_t> id_of(std::string_view added_token) const = 0;  // "<|im_end|>" -> its id
  virtual bool is_special(std::int32_t id) const = 0;
  virtual int vocab_size() const = 0;    // highest id + 1
  virtual std::string json() const = 0;  // the text of tokenizer.json, for saving it unchanged
};

}  // namespace agon::agents
