#include "env/grading/answer/option_text.h"

#include <algorithm>

#include "core/text.h"
#include "env/grading/answer/number/text.h"
#include "env/grading/answer/number/word.h"
#include "env/grading/answer/plain_text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/words.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

// The text without pairs of quotes or brackets around the whole.
std::string_view unwrapped(std::string_view text) {
  constexpr std::string_view kOpen = "\"'([", kClose = "\"')]";
  for (int i = 0; i < 3 && text.size() > 2; ++i) {
    const std::size_t kind = kOpen.find(text.front());
    if (kind == kOpen.npos || text.back() != kClose[kind]) break;
    text = trim(text.substr(1, text.size() - 2));
  }
  return text;
}

// The text without differences of style: blanks next to marks and between a number and its unit, hyphens within words,
// case.
std::string spelled(std::string_view text) {
  const std::string lower = to_lower(bare(text));
  std::string form;
  const auto is_mark = [](char c) { return !is_word_byte(c) && c != ' '; };
  for (std::size_t at = 0; at < lower.size(); ++at) {
    const char left = at > 0 ? lower[at - 1] : ',', right = at + 1 < lower.size() ? lower[at + 1] : ',';
    const bool before_unit = is_digit(left) && is_word_byte(right) && !is_digit(right);
    if (lower[at] == ' ' && (is_mark(left) || is_mark(right) || before_unit)) continue;
    form += lower[at] == '-' && is_letter(left) && is_letter(right) ? ' ' : lower[at];
  }
  while (form.size() > 1 && form.ends_with('.')) form.pop_back();
  return form;
}

// "x =" of "x = 4"; empty if the option is not such an equation.
std::string_view left_side(std::string_view option) {
  const std::size_t sign = option.find('=');
  if (sign == option.npos || option.find('=', sign + 1) != option.npos) return "";
  const std::string_view name = trim(option.substr(0, sign));
  const bool named = !name.empty() && name.size() < 4 && std::all_of(name.begin(), name.end(), is_letter);
  return named && !trim(option.substr(sign + 1)).empty() ? option.substr(0, sign + 1) : "";
}

}  // namespace

Options without_left_sides(const Options& options) {
  Options values;
  const std::string first = options.empty() ? "" : plain_text(options.front());
  const std::string_view name = trim(left_side(first));
  for (const std::string& option : options) {
    const std::string plain = plain_text(option);
    const std::string_view left = left_side(plain);
    if (left.empty() || words_of(left) != words_of(name)) return options;
    values.emplace_back(trim(std::string_view(plain).substr(left.size())));
  }
  return values;
}

std::optional<std::size_t> only(const Places& places) {
  return places.size() == 1 ? std::optional(*places.begin()) : std::nullopt;
}

std::string bare(std::string_view text) {
  std::string plain = plain_text(text);
  std::replace(plain.begin(), plain.end(), '\n', ' ');
  return plain;
}

Places with_exact_text(std::string_view text, const Options& options) {
  const std::string said = bare(text);
  const bool period = said.size() > 1 && said.ends_with('.');
  for (const std::string_view form :
       {std::string_view(said), std::string_view(said).substr(0, said.size() - period), unwrapped(said),
        unwrapped(std::string_view(said).substr(0, said.size() - period))}) {
    const Places places =
        options_that(options, [&](const std::string& option) { return !form.empty() && bare(option) == form; });
    if (!places.empty()) return places;
  }
  return {};
}

Places with_text_in_any_case(std::string_view text, const Options& options) {
  std::string said = to_lower(bare(text));
  while (said.size() > 1 && said.ends_with('.')) said.pop_back();
  return options_that(options, [&](const std::string& option) {
    std::string other = to_lower(bare(option));
    while (other.size() > 1 && other.ends_with('.')) other.pop_back();
    return !said.empty() && other == said;
  });
}

std::string words_of(std::string_view text) {
  std::string form;
  for (const std::string& word : answer_words(text)) form += (form.empty() ? "" : " ") + word;
  return form;
}

Places with_words(std::string_view text, const Options& options) {
  const std::string said = words_of(text);
  return options_that(options, [&](const std::string& option) { return !said.empty() && words_of(option) == said; });
}

Places with_value(const Number& said, const Options& options) {
  return options_that(options, [&](const std::string& option) {
    const auto number = parse_plain_number(plain_text(option));
    return number && equal_numbers(said, *number);
  });
}

Places with_number(std::string_view text, const Options& options) {
  const auto said = parse_plain_number(plain_text(text));
  return said ? with_value(*said, options) : Places();
}

Places with_spelling(std::string_view text, const Options& options) {
  const std::string said = spelled(text);
  return options_that(options, [&](const std::string& option) { return !said.empty() && spelled(option) == said; });
}

Places with_number_word(std::string_view text, const Options& options) {
  const auto said = parse_plain_number(plain_text(text));
  if (!said) return {};
  return options_that(options, [&](const std::string& option) {
    const auto digits = number_words_in_digits(bare(option));
    const auto number = digits ? parse_plain_number(*digits) : std::nullopt;
    return number && equal_numbers(*said, *number);
  });
}

}  // namespace agon::env
