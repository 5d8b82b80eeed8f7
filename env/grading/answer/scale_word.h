// env/grading/answer/scale_word.h - words that multiply the number before them ("2 million", "1.5 lakh", "3万"), in the
// languages that models answer in.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace agon::env {

struct Scale {
  std::size_t bytes = 0;  // of the word
  int exponent = 0;       // times factor x 10^exponent
  int factor = 1;
};

// The longest such word at the front of the text, which is normalised (env/grading/answer/plain_text.h); ASCII letters
// of any case. No word begins with one ("thousandth"), but where words are not parted by blanks
// (env/grading/answer/word_list.h). Turkish "bin" (thousand) is left out: "1 bin" is English too.
std::optional<Scale> scale_word(std::string_view text);

}  // namespace agon::env
