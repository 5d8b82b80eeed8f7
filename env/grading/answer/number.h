// env/grading/answer/number.h - numbers as people and models write them, and when two are equal. Pure functions;
// nothing throws for any text, and what a double cannot hold is no number.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agon::env {

struct Number {
  double value = 0;
  // "-125e-1": digits without zeros at their ends, and the power of ten. Empty for what is not written in decimals
  // (1/3, √2): there `value` is all there is.
  std::string decimal;
  bool is_whole() const;
};

// |answer - gold| <= max(absolute, relative * |gold|).
struct Tolerance {
  double relative = 1e-6, absolute = 0;
};
// Without a tolerance, whole numbers are equal only exactly, digit by digit; where either is not whole, Tolerance{}
// holds. With one, it holds for all.
bool equal_numbers(const Number& answer, const Number& gold, const std::optional<Tolerance>& tolerance = {});

// The number that a whole text is (env/grading/answer/text.h makes it plain):
//   sign, digits with a decimal point; thousands parted by commas, blanks, apostrophes, underscores, or points where
//   there are two of them or a decimal comma follows; 0,5; groups of India (12,34,567); 1e3; x 10^3 in its spellings
//   1/2, 1 1/2, \frac, √2, 2π/3
//   thousand, million, billion, k, M, bn and the like behind it
//   currencies before it or behind, %, and units: words without digits (12 square meters, m/s^2). They are dropped: 50
//   % is 50
//   "=", "about" and the like before it; a pair of brackets or quotes around it
// Nothing for other text: sums, ranges, times, lists, words, "1,23" (a decimal comma, or two numbers?).
std::optional<Number> parse_plain_number(std::string_view plain);

// The number that a text means: the whole of it, what stands behind its last "=", what a phrase says ("the answer is"),
// the only number in it, the only one behind its last "is", "are", "so" and the like, or the only one of its last line
// - the first of these that there is. Two numbers where one is wanted are none, and so are bounds and what is denied
// (env/grading/answer/denied.h). A correction supersedes what stands before it, and a reason does not replace a number
// (env/grading/answer/reason.h). English number words count where they are the whole of such a part
// (env/grading/answer/number_word.h).
std::optional<Number> read_number(std::string_view plain);

std::string to_string(const Number& number);

}  // namespace agon::env
