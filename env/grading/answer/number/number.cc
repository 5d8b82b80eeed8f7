#include "env/grading/answer/number/number.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace agon::env {

bool Number::is_whole() const {
  if (decimal.empty()) return value == std::floor(value);
  return decimal.find("e-") == decimal.npos;
}

bool equal_numbers(const Number& answer, const Number& gold, const std::optional<Tolerance>& tolerance) {
  if (!tolerance && answer.is_whole() && gold.is_whole())
    return answer.decimal.empty() || gold.decimal.empty() ? answer.value == gold.value : answer.decimal == gold.decimal;
  if (!tolerance && gold.is_whole()) return answer.value == gold.value;
  const Tolerance rule = tolerance.value_or(Tolerance{});
  const double allowed = std::max(rule.absolute, rule.relative * std::abs(gold.value));
  return std::abs(answer.value - gold.value) <= allowed * (1 + 1e-9);
}

Number negated(Number number) {
  number.value = -number.value;
  if (number.decimal.starts_with('-'))
    number.decimal.erase(0, 1);
  else if (!number.decimal.empty() && number.value != 0)
    number.decimal.insert(0, 1, '-');
  return number;
}

std::string to_string(const Number& number) {
  return number.is_whole() && std::abs(number.value) < 1e15 ? fmt::format("{:.0f}", number.value)
                                                            : fmt::format("{}", number.value);
}

}  // namespace agon::env
