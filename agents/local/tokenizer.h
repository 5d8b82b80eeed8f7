// agents/local/tokenizer.h - byte-level BPE read from a hub tokenizer.json (Qwen2 family): added tokens split first,
// NFC, the Qwen2 regex, byte map, merges by rank. Immutable after construction, thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace agon::agents {

class Tokenizer {
 public:
  // Throws Error for anything that is not such a tokenizer; `source` names the file.
  static std::unique_ptr<Tokenizer> parse(const Json& tokenizer_json, const std::string& source);
  virtual ~Tokenizer() = default;

  // with_added_tokens = false: text such as "<|im_end|>" is plain text (used for everything that a user or an env
  // wrote).
  virtual std::vector<std::int32_t> encode(std::string_view text, bool with_added_tokens = true) const = 0;
  // Bytes of the ids; tokens marked special are left out if skip_special. Invalid UTF-8 is kept as bytes.
  virtual std::string decode(std::span<const std::int32_t> ids, bool skip_special = true) const = 0;
  virtual std::string token_bytes(std::int32_t id) const = 0;                         // empty for an id without a token
  virtual std::optional<std::int32_t> id_of(std::string_view added_token) const = 0;  // "<|im_end|>" -> its id
  virtual bool is_special(std::int32_t id) const = 0;
  virtual int vocab_size() const = 0;    // highest id + 1
  virtual const Json& json() const = 0;  // the file, to be written again unchanged
};

// Learns a byte-level BPE tokenizer of the Qwen2 pipeline: 256 bytes, merges from `texts` (most frequent pair first,
// ties by byte order) until `vocab_size` without `special_tokens` and `tag_tokens` is reached or no pair occurs twice.
// special_tokens are marked special (never shown), tag_tokens are added tokens that stay visible text ("<answer>").
// Deterministic.
Json learn_tokenizer(std::span<const std::string> texts, int vocab_size, std::span<const std::string> special_tokens,
                     std::span<const std::string> tag_tokens);

}  // namespace agon::agents
