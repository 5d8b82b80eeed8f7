#include "env/grading/answer/only_number.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "core/text.h"
#include "env/grading/answer/denied.h"
#include "env/grading/answer/number/text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

// The size of the currency sign at the end of the text.
std::size_t currency_before(std::string_view text) {
  for (std::size_t size = 1; size <= std::min<std::size_t>(3, text.size()); ++size)
    if (currency_sign(text.substr(text.size() - size)) == size) return size;
  return 0;
}

// Beginnings that deny a whole sentence.
constexpr std::string_view kImpossible[] = {"impossible that there are ", "impossible that there is ",
                                            "impossible that it is ",     "impossible for there to be ",
                                            "impossible that it's ",      "can't be that there are ",
                                            "cannot be that there are "};

bool is_operator(std::string_view between) {
  between = trim(between);
  constexpr std::string_view kOperators[] = {"+", "-",      "*",      "/",      "^",      "**",    ":",
                                             "x", "\u00d7", "\u00f7", "\u00b7", "\u00b1", "minus", "plus"};
  return std::find(std::begin(kOperators), std::end(kOperators), between) != std::end(kOperators);
}

// "sin ", "f(", "log_2(", "∛": a function of the next number.
bool ends_with_function(std::string_view before) {
  constexpr std::string_view kFunctions[] = {"sin", "cos", "tan", "log", "ln", "exp", "\u221b", "\u221c"};
  const std::string lower = ascii_lower(before.substr(before.size() - std::min<std::size_t>(before.size(), 24)));
  std::string_view said = trim(lower);
  const bool bracket = said.ends_with('(');
  if (bracket) said.remove_suffix(1);
  std::size_t begin = said.size();
  while (begin > 0 && (is_word_byte(said[begin - 1]) || said[begin - 1] == '_')) --begin;
  std::string_view name = said.substr(begin);
  if (const std::size_t base = name.find('_'); base != name.npos) name = name.substr(0, base);  // log_2
  if (bracket && name.size() == 1 && is_letter(name[0])) return true;
  return std::any_of(std::begin(kFunctions), std::end(kFunctions), [&](std::string_view function) {
    return bracket ? name.starts_with(function)
                   : name == function || (function.size() == 3 && name.ends_with(function) && !is_letter(function[0]));
  });
}

// "Table ", "Step ": the next number is a name.
bool ends_with_label(std::string_view before) {
  constexpr std::string_view kNamed[] = {"table", "figure", "fig",  "step",    "question", "image",
                                         "chart", "panel",  "page", "section", "picture",  "chapter"};
  if (!before.ends_with(' ')) return false;
  const std::string_view said = trim(before);
  std::size_t begin = said.size();
  while (begin > 0 && said.size() - begin < 12 && is_word_byte(said[begin - 1])) --begin;
  return is_among(ascii_lower(said.substr(begin)), kNamed);
}

// The text after the unit with which it begins: " cm is wrong".
std::string_view behind_unit(std::string_view text) {
  if (!text.starts_with(' ')) return {};
  std::size_t end = 1;
  while (end < text.size() && end < 16 && is_letter(text[end])) ++end;
  return end > 1 ? text.substr(end) : std::string_view();
}

// Where the code of a currency right before `at` begins, "EUR12,99"; `at` if there is none.
std::size_t currency_code_before(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  const bool apart = begin == 0 || !is_word_byte(text[begin - 1]);
  return apart && at - begin == 3 && number_at(text, begin).number ? begin : at;
}

// Does "^", "^{" or "^-", after a letter, stand before `at`?
bool is_power_of_unit(std::string_view text, std::size_t at) {
  while (at > 0 && std::string_view("-{(").find(text[at - 1]) != std::string_view::npos) --at;
  return at > 1 && text[at - 1] == '^' && is_word_byte(text[at - 2]) && !is_digit(text[at - 2]);
}

// The size of "minus " or "negative " at the end of the text.
std::size_t negative_word_before(std::string_view text) {
  const std::string lower = ascii_lower(text.substr(text.size() - std::min<std::size_t>(text.size(), 10)));
  for (const std::string_view word : kNegativeWords)
    if (lower.ends_with(word) && (lower.size() == word.size() || !is_word_byte(lower[lower.size() - word.size() - 1])))
      return word.size();
  return 0;
}

// 3x, 3x4, 3y^2, 5x^2: does a variable follow, so that this is not one number?
bool is_variable_behind(std::string_view text, std::size_t at) {
  if (at >= text.size()) return false;
  if (begins_product(text.substr(at))) return true;
  if (std::string_view("inxyz").find(text[at]) == std::string_view::npos) return false;
  if (at + 1 == text.size()) return text[at] != 'x';
  if (text[at + 1] == '^') return true;
  return is_digit(text[at + 1]) || (!is_word_byte(text[at + 1]) && text[at + 1] != '-' && text[at] != 'x');
}

// The sign of a sum or product at the front of a text, with the blanks around it; empty without one.
std::string_view operator_at(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  for (const std::string_view sign : {"+", "-", "*", "/", "\u00b7", "\u00d7"})
    if (text.substr(begin).starts_with(sign))
      return text.substr(0, std::min(text.find_first_not_of(' ', begin + sign.size()), text.size()));
  return {};
}

// " - x", "/x", " + y^2", "(x+1)": a term with a variable is joined to the number before it. "3 - a dog", "5/h" and
// "3-D" have none.
bool is_joined_to_variable(std::string_view behind) {
  const bool bracket = behind.starts_with('(');
  const std::string_view sign = bracket ? behind.substr(0, 1) : operator_at(behind);
  const std::string_view rest = behind.substr(sign.size());
  const bool strict = trim(sign) == "/" || sign == "-";
  const std::string_view variables = strict ? "nxyz" : "bcknpqrtuvwxyz";
  if (sign.empty() || rest.empty() || variables.find(rest[0]) == variables.npos) return false;
  if (bracket) return !operator_at(rest.substr(1)).empty() || rest.substr(1).starts_with('^');
  return rest.size() == 1 || (!is_word_byte(rest[1]) && rest[1] != '-' && rest[1] != '\'');
}

// "x + ", "2x - ", "x/", "x^2 + ": a term with a variable, which is joined to the next number.
bool joins_variable(std::string_view before) {
  std::size_t end = before.find_last_not_of(' ') + 1;
  if (end == 0 || std::string_view("+-*/").find(before[end - 1]) == std::string_view::npos) return false;
  const char sign = before[end - 1];
  const bool apart = end < before.size();  // "x -3" may be no sum
  before = trim(before.substr(0, end - 1));
  if (const std::size_t power = before.rfind('^'); power != before.npos && power + 4 > before.size())
    if (digits_at(before, power + 1).size() + power + 1 == before.size()) before = before.substr(0, power);
  if (before.empty() || before.back() < 'a' || before.back() > 'z') return false;
  if (sign == '-' && !apart && std::string_view("nxyz").find(before.back()) == std::string_view::npos) return false;
  return before.size() == 1 || !is_word_byte(before[before.size() - 2]) || is_digit(before[before.size() - 2]);
}

}  // namespace

bool is_no_answer(std::string_view before, std::string_view behind) {
  return denies_next(before) || bounds_next(before, behind) || ends_with_function(before) ||
         before.ends_with("\u00b1") || ends_with_label(before) ||
         ends_with_any(ascii_lower(last_bytes(before, 40)), kImpossible) || denies_last(behind) ||
         denies_last(behind_unit(behind)) || bounds_last(behind);
}

bool is_multiple_of_x(std::string_view before, std::string_view behind) {
  const std::string_view equation = trim(before);
  if (!equation.ends_with('=') || !starts_with_word(behind, "x")) return false;
  const std::string_view left = trim(equation.substr(0, equation.size() - 1));
  if (left.ends_with(')')) return true;
  return !left.empty() && is_letter(left.back()) && (left.size() == 1 || !is_word_byte(left[left.size() - 2]));
}

std::optional<Number> only_number(std::string_view text) {
  std::optional<Number> only;
  std::size_t end_of_last = 0;
  for (std::size_t at = 0; at < text.size();) {
    const bool starts = is_digit(text[at]) || (text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1])) ||
                        (begins_irrational(text.substr(at)) && (at == 0 || !is_letter(text[at - 1])));
    if (!starts) {
      ++at;
      continue;
    }
    const std::size_t code = currency_code_before(text, at);
    const bool glued = at > 0 && code == at && (is_letter(text[at - 1]) || text[at - 1] == '_');
    if (glued || is_power_of_unit(text, at)) {  // H2O, x1, cm^2
      do ++at;
      while (at < text.size() && (is_word_byte(text[at]) || text[at] == '_'));
      continue;
    }
    const std::size_t begin = code - currency_before(text.substr(0, code));
    if (begin > 1 && text[begin - 1] == '-' && text[begin - 2] == '-') return {};
    const std::size_t word = negative_word_before(text.substr(0, begin));
    const bool dash = begin > 0 && text[begin - 1] == '-' && (begin == 1 || !is_word_byte(text[begin - 2]));
    const bool negative = dash || word > 0;
    auto [number, after] = number_at(text, begin);
    if (!number || after <= at) return {};
    if (negative) number = negated(*number);
    const bool joined = after + 1 < text.size() && is_digit(text[after + 1]) &&
                        std::string_view(",.:/^").find(text[after]) != std::string_view::npos;
    const std::size_t start = begin - (dash ? 1 : word);
    if (joins_variable(text.substr(0, begin)) || is_joined_to_variable(text.substr(after)) ||
        is_multiple_of_x(text.substr(0, begin), text.substr(after)))
      return {};
    if (joined || is_variable_behind(text, after) || (only && is_operator(text.substr(end_of_last, at - end_of_last))))
      return {};
    if (only && negative && is_operator(text.substr(end_of_last, begin - end_of_last))) return {};
    at = end_of_last = after;
    while (at < text.size() && is_word_byte(text[at])) ++at;
    if (std::any_of(text.begin() + static_cast<std::ptrdiff_t>(after), text.begin() + static_cast<std::ptrdiff_t>(at),
                    is_digit) &&
        at > after + 1 && at - after > 2)  // 0x10, but m2
      return {};
    if (is_no_answer(text.substr(0, start), text.substr(after))) continue;
    if (only && !equal_numbers(*number, *only)) return {};
    only = number;
  }
  return only;
}

}  // namespace agon::env
