// agents/hub/tokenizer/pretokenize.h - the steps before byte-level BPE: NFC, the split into words, the byte map, and
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

// The split regexes of the Qwen2 and the Llama 3 family, as in tokenizer.json, and GPT-2's, which the tokenizers
// library has built in ("use_regex").
inline constexpr std::string_view kQwen2Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

inline constexpr std::string_view kLlama3Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kGpt2Regex =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
enum class WordSplit { qwen2, llama3, gpt2 };

// `text` in NFC by Unicode 9, as in the tokenizers library. Returns `text` itself if nothing can change, otherwise a
// view of `buffer`.
std::string_view to_nfc(std::string_view text, std::string& buffer);
// The end of the word that starts at `start`: the regex's match there. REQUIRES: start < text.size().
std::size_t word_end(std::string_view text, std::size_t start, WordSplit split = WordSplit::qwen2);
// The end of the stretch that starts at `start`: one character of \p{N}, or all characters up to the next such one.
// REQUIRES: start < text.size().
std::size_t stretch_between_digits_end(std::string_view text, std::size_t start);

// The byte map of byte-level BPE: each byte is written as one printable character (UTF-8).
const std::array<std::string, 256>& byte_symbols();
// The bytes that a string of such characters represents; nullopt if it holds another character.
std::optional<std::string> bytes_of_symbols(std::string_view symbols);

// A token that is searched for in a text before the text is cut into words.
struct AddedToken {
  std::string content;  // not empty
  std::int32_t id = 0;
  bool special = false;
  bool normalized = false;              // searched for in the text's NFC, not in the original text
  bool single_word = false;             // not matched next to a word character
  bool lstrip = false, rstrip = false;  // includes the white space before it, after it
};

// Finds added tokens in text: the leftmost match first, of several the longest.
class AddedTokens {
 public:
  void add(AddedToken token);
  bool empty() const { return !any_; }
  // Calls on_text for each stretch between tokens (never an empty one) and on_token for each token, in order. Special
  // tokens count as text unless with_special.
  void split(std::string_view text, bool with_special, const std::function<void(std::string_view)>& on_text,
             const std::function<void(std::int32_t)>& on_token) const;

 private:
  const AddedToken* match(std::string_view text, bool with_special) const;  // a token at the beginning of text

  std::array<std::vector<AddedToken>, 256> by_first_byte_;  // longest first
  bool any_ = false;
};

}  // namespace agon::agents
