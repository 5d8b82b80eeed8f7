// env/grading/answer/scale_word.h - recognises words that multiply the number before them ("2 million", "1.5 lakh",
// "3万"), in the languages in which models answer.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace agon::env {

struct Scale {
  std::size_t bytes = 0;  // length of the word
  int exponent = 0;       // times factor x 10^exponent
  int factor = 1;
};

// The longest such word at the front of a plain text (env/grading/answer/plain_text.h); ASCII letters in any case. It
// has to be a whole word (not "thousandth"), except in scripts without blanks between words
// (env/grading/answer/word_list.h). Turkish "bin" (thousand) is left out because "1 bin" is English too.
std::optional<Scale> scale_word(std::string_view text);

}  // namespace agon::env
