// agents/hub/tokenizer/tokenizer.h - BPE read from a hub tokenizer.json. Byte-level (GPT-2, SmolLM2, Llama 3, Qwen2 and
// 3): added tokens split first, NFC if it asks for it, the family's split into words, byte map, merges by rank.
// SentencePiece's (Llama 2, TinyLlama, Mistral): added tokens split first, blanks marked, characters merged by rank. A
// token that its post-processor would put before every text is not added: chat templates write it. Immutable after
// construction, thread-safe.
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

// Where a text stands of which only this part is encoded or decoded. SentencePiece's tokenizers put a blank before a
// text and drop it from what they decode.
enum class TextPlace {
  start,        // at the beginning
  after_token,  // right after an added token, such as those that a chat template writes
  within        // after text: it is encoded and decoded as it is
};

class Tokenizer {
 public:
  // Takes the text of a tokenizer.json; `source` names the file. Throws Error for anything that is not such a
  // tokenizer: not JSON, another model or pipeline, a printable ASCII character without a token (of byte-level BPE) or
  // a byte without one to fall back on (of SentencePiece's), ids with a hole, a merge of unknown tokens.
  static std::unique_ptr<Tokenizer> parse(std::string_view tokenizer_json, const std::string& source);
  // Makes the same from its parts; `json` returns the text that they were read from.
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
  // What the token writes after text. Empty for an id without a token.
  virtual std::string token_bytes(std::int32_t id) const = 0;
  virtual std::optional<std::int32_t> id_of(std::string_view added_token) const = 0;  // "<|im_end|>" -> its id
  virtual bool is_special(std::int32_t id) const = 0;
  virtual int vocab_size() const = 0;    // highest id + 1
  virtual std::string json() const = 0;  // the file's text, to be written again unchanged
};

}  // namespace agon::agents
