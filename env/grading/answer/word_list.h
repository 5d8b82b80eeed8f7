// env/grading/answer/word_list.h - searches a text for the words of a list, for the readers of answers. The type Words
// is a range of texts.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "env/grading/answer/text.h"

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

// The text without the characters of `skipped` at its front.
inline std::string_view behind(std::string_view text, std::string_view skipped) {
  const std::size_t at = text.find_first_not_of(skipped);
  return at == text.npos ? std::string_view() : text.substr(at);
}

// Does the script of a word separate words by blanks? Han, kana, Hangul and Thai do not, or not after a number.
// REQUIRES: the word is not empty.
inline bool is_parted(std::string_view word) {
  return static_cast<unsigned char>(word[0]) < 0xE3 && !word.starts_with("\xE0\xB8") && !word.starts_with("\xE0\xB9");
}

// Does a text begin, or end, with a whole word?
inline bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || !is_word_byte(word.back()) || !is_parted(word) ||
                                    !is_word_byte(text[word.size()]));
}
inline bool ends_with_word(std::string_view text, std::string_view word) {
  return text.ends_with(word) && (text.size() == word.size() || !is_parted(word) || !is_word_byte(word[0]) ||
                                  !is_word_byte(text[text.size() - word.size() - 1]));
}
template <typename Words>
bool starts_with_any_word(std::string_view text, const Words& words) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return starts_with_word(text, word); });
}
template <typename Words>
bool ends_with_any_word(std::string_view text, const Words& words) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return ends_with_word(text, word); });
}

// The words of a text; a byte of `joiners` within one is part of it.
inline std::vector<std::string_view> words_in(std::string_view text, std::string_view joiners) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && (is_word_byte(text[end]) || (end > at && joiners.find(text[end]) != joiners.npos)))
      ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return words;
}

inline bool has_digit(std::string_view text) { return text.find_first_of("0123456789") != text.npos; }

}  // namespace agon::env
