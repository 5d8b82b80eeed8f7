// agents/hub/pretokenize.h - the steps before BPE in the Qwen2 pipeline: NFC, the split into words, the byte map, and
// the search for added tokens. Text may hold invalid UTF-8: such bytes pass unchanged.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agon::agents {

// The split regex of the Qwen2 family, as in tokenizer.json. word_end() is this regex.
inline constexpr std::string_view kQwen2Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// `text` in NFC: `text` itself where nothing can change, otherwise a view of `buffer`.
std::string_view to_nfc(std::string_view text, std::string& buffer);
// The end of the word that starts at `start`: the regex's match there. REQUIRES: start < text.size().
std::size_t word_end(std::string_view text, std::size_t start);

// The byte map of byte-level BPE: each byte is written as one printable character (UTF-8).
const std::array<std::string, 256>& byte_symbols();
// The bytes that a string of such characters represents; nullopt if it holds another character.
std::optional<std::string> bytes_of_symbols(std::string_view symbols);

// Finds added tokens in text: leftmost, longest.
class AddedTokens {
 public:
  void add(std::string content, std::int32_t id, bool special);  // REQUIRES: content not empty
  bool empty() const { return !any_; }
  // Calls on_text for each stretch between tokens (never an empty one) and on_token for each token, in order. Special
  // tokens count as text unless with_special.
  void split(std::string_view text, bool with_special, const std::function<void(std::string_view)>& on_text,
             const std::function<void(std::int32_t)>& on_token) const;

 private:
  struct Token {
    std::string content;
    std::int32_t id;
    bool special;
  };
  const Token* match(std::string_view text, bool with_special) const;  // at the beginning of text

  std::array<std::vector<Token>, 256> by_first_byte_;  // longest first
  bool any_ = false;
};

}  // namespace agon::agents
