// env/grading/near_place.h - the words around a place, which say what it is.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.h"
#include "env/grading/answer/text.h"

namespace agon::env {

inline constexpr std::size_t kPlaceWindow = 160;  // bytes that are looked at

inline std::string_view end_of(std::string_view text) { return last_bytes(text, kPlaceWindow); }
inline std::string_view start_of(std::string_view text) { return cut_text(text, kPlaceWindow); }
// "don't" and "left-hand" are one word each.
inline std::vector<std::string_view> words_near(std::string_view text) { return words_in(text, "'-"); }

// Where the last of some words begins, npos: none stands there. Words that are not whole ones count in scripts alone
// that do not part them.
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
