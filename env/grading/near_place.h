// env/grading/near_place.h - reads the words around a place (a point or a box in a text), which tell what the place is.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.h"
#include "env/grading/answer/text.h"

namespace agon::env {

inline constexpr std::size_t kPlaceWindow = 160;  // bytes read before or after a place

inline std::string_view end_of(std::string_view text) { return last_bytes(text, kPlaceWindow); }
inline std::string_view start_of(std::string_view text) { return cut_text(text, kPlaceWindow); }
// "don't" and "left-hand" are one word each.
inline std::vector<std::string_view> words_near(std::string_view text) { return words_in(text, "'-"); }

// Position and size of the last of `words` in a text; position npos if it has none. Only whole words count, except in
// scripts without blanks between words.
template <typename Words>
std::pair<std::size_t, std::size_t> last_word(std::string_view text, const Words& words) {
  std::pair<std::size_t, std::size_t> last{text.npos, 0};
  for (const std::string_view word : words)
    for (std::size_t at = text.rfind(word); at != text.npos; at = at == 0 ? text.npos : text.rfind(word, at - 1)) {
      const bool begins = at == 0 || !is_parted(word) || !is_word_byte(text[at - 1]);
      if (!begins || !starts_with_word(text.substr(at), word)) continue;
      if (last.first == text.npos || at + word.size() > last.first + last.second) last = {at, word.size()};
      break;
    }
  return last;
}

}  // namespace agon::env
