// env/word_list.h - looking for words of a list in a text, as the readers of answers do. Words is a range of texts.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace agon::env {

template <typename Words>
bool is_among(std::string_view word, const Words& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}
template <typename Words>
bool starts_with_any(std::string_view text, const Words& words) {
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view word) { return text.starts_with(word); });
}
template <typename Words>
bool ends_with_any(std::string_view text, const Words& words) {
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view word) { return text.ends_with(word); });
}
template <typename Words>
bool contains_any(std::string_view text, const Words& words) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return text.find(word) != text.npos; });
}

// The text without what stands of `skipped` at its front.
inline std::string_view behind(std::string_view text, std::string_view skipped) {
  const std::size_t at = text.find_first_not_of(skipped);
  return at == text.npos ? std::string_view() : text.substr(at);
}

// Is a word of a script that parts words by blanks? Han, kana, Hangul and Thai do not, or not behind a number.
// REQUIRES: the word is not empty.
inline bool is_parted(std::string_view word) {
  return static_cast<unsigned char>(word[0]) < 0xE3 && !word.starts_with("\xE0\xB8") && !word.starts_with("\xE0\xB9");
}

}  // namespace agon::env
