// env/grading/answer/number/number.h - says what counts as a number and when two numbers are equal. A value that a
// double cannot hold is not a number.
#pragma once

#include <optional>
#include <string>

namespace agon::env {

struct Number {
  double value = 0;
  // The number in decimal, as "-125e-1": digits without zeros at their ends, and the power of ten. Empty for a number
  // that is not written in decimals (1/3, √2) and has only `value`.
  std::string decimal;
  bool is_whole() const;
};

// |answer - gold| <= max(absolute, relative * |gold|).
struct Tolerance {
  double relative = 1e-6, absolute = 0;
};
// Without a tolerance: if gold is whole, the answer must equal it exactly (digit by digit if both are written in
// decimals); Tolerance{} applies only if gold is not whole. A given tolerance applies to all numbers.
bool equal_numbers(const Number& answer, const Number& gold, const std::optional<Tolerance>& tolerance = {});

Number negated(Number number);
std::string to_string(const Number& number);

}  // namespace agon::env
