// env/grading/answer/number/text.h - reads numbers as people and models write them. Pure functions of plain texts;
// nothing throws for any text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "env/grading/answer/number/number.h"

namespace agon::env {

// The number that a whole text is (env/grading/answer/plain_text.h makes it plain):
//   sign, digits with a decimal point; thousands separated by commas, blanks, apostrophes, underscores, or points if
//   there are two of them or a decimal comma follows; 0,5; groups of India (12,34,567); 1e3; x 10^3 in its spellings
//   1/2, 1 1/2, \frac, √2, 2π/3
//   thousand, million, billion, k, M, bn and the like after it
//   currencies before or after it, %, and units: words without digits (12 square meters, m/s^2). They are dropped: 50
//   % is 50
//   "=", "about" and the like before it; a pair of brackets or quotes around it
// nullopt for other text: sums, ranges, times, lists, words, "1,23" (may be a decimal or two numbers).
std::optional<Number> parse_plain_number(std::string_view plain);

// The number that begins at `at` in a text, with its sign, currency and scale word. `end`: where it ends, or where
// reading it failed.
struct NumberAt {
  std::optional<Number> number;
  std::size_t end = 0;
};
NumberAt number_at(std::string_view plain, std::size_t at);

// Parts of numbers.
std::string_view digits_at(std::string_view text, std::size_t at);  // the run of digits there
std::size_t currency_sign(std::string_view text);  // its size at the front of the text; 0: there is none
bool begins_irrational(std::string_view text);     // with a root or π
bool begins_product(std::string_view text);        // with variables that are multiplied: "ab", "xy"
inline constexpr std::string_view kNegativeWords[] = {"minus ", "negative "};

}  // namespace agon::env
