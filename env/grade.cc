#include "env/grade.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "core/text.h"
#include "env/protocol.h"

namespace agon::env {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// The end of the letters and digits (Python's \w; the underscore is gone by then) from `at` on; `at` if there are none.
std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    utf8proc_int32_t character = -1;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                                       static_cast<utf8proc_ssize_t>(text.size() - at), &character);
    if (size <= 0) return at;
    const utf8proc_category_t category = utf8proc_category(character);
    const bool letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    const bool number = category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
    if (!letter && !number) return at;
    at += static_cast<std::size_t>(size);
  }
  return at;
}

std::string without_articles(std::string_view text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = word_end(text, at);
    const std::string_view word = text.substr(at, end - at);
    if (word == "a" || word == "an" || word == "the")
      kept += ' ';
    else
      kept += end > at ? word : text.substr(at, 1);
    at = std::max(end, at + 1);
  }
  return kept;
}

std::vector<std::string> answer_tokens(std::string_view text) {
  std::string bare = to_lower(text);
  std::erase_if(bare, is_punctuation);
  return split_words(without_articles(bare));
}

// Takes `prefix` off the front; false if it is not there.
bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Copies the digits at the front of `text`, thousands separators dropped, and takes them off it. A comma counts only
// between groups of three digits.
void take_digits(std::string_view& text, std::string& number) {
  const std::size_t leading = std::min(text.find_first_not_of("0123456789"), text.size());
  number += text.substr(0, leading);
  text.remove_prefix(leading);
  if (leading == 0 || leading > 3) return;
  while (text.size() >= 4 && text[0] == ',' && is_digit(text[1]) && is_digit(text[2]) && is_digit(text[3]) &&
         (text.size() == 4 || !is_digit(text[4]))) {
    number += text.substr(1, 3);
    text.remove_prefix(4);
  }
}

// Reads a decimal number off the front of `text`: sign, digits, point, exponent.
std::optional<double> take_number(std::string_view& text) {
  std::string number;
  if (skip(text, "-") || skip(text, "\u2212"))
    number = "-";
  else
    skip(text, "+");
  while (skip(text, "$") || skip(text, "\\$")) {
  }
  take_digits(text, number);
  if (text.starts_with('.')) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", 1), text.size());
    number += text.substr(0, end);
    text.remove_prefix(end);
  }
  if (text.size() > 1 && (text[0] == 'e' || text[0] == 'E')) {
    const std::size_t sign = text[1] == '-' || text[1] == '+' ? 1 : 0;
    const std::size_t end = std::min(text.find_first_not_of("0123456789", 1 + sign), text.size());
    if (end > 1 + sign) {
      number += 'e';
      number += text.substr(text[1] == '+' ? 2 : 1, end - (text[1] == '+' ? 2 : 1));
      text.remove_prefix(end);
    }
  }
  double value = 0;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (code != std::errc() || end != number.data() + number.size()) return {};
  return value;
}

// What may follow a number: %, $, or one word such as "cm", "km/h", "cm^2", "degrees.".
bool is_unit(std::string_view text) {
  text = trim(text);
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || text == "%" || text == "\\%" || text == "$") return true;
  char before = 0;
  for (const char c : text) {
    const bool letter = is_letter(c) || static_cast<unsigned char>(c) >= 0x80;
    const bool inside = c == '/' || c == '^' || (is_digit(c) && before == '^');
    if (!letter && !(inside && before)) return false;
    before = c;
  }
  return true;
}

std::optional<double> quotient(std::optional<double> numerator, std::optional<double> denominator) {
  if (!numerator || !denominator || *denominator == 0) return {};
  const double value = *numerator / *denominator;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// \frac{a}{b} with an optional sign before it; `text` stands behind "frac".
std::optional<double> parse_latex_fraction(std::string_view text, double sign) {
  const std::size_t middle = text.find("}{");
  if (!text.starts_with('{') || !text.ends_with('}') || middle == text.npos || middle + 2 >= text.size()) return {};
  std::string_view above = text.substr(1, middle - 1), below = text.substr(middle + 2, text.size() - middle - 3);
  const auto numerator = take_number(above), denominator = take_number(below);
  if (!above.empty() || !below.empty() || !numerator) return {};
  return quotient(sign * *numerator, denominator);
}

// The letters that stand for an option: A.. as many as there are.
bool is_choice(char letter, const std::vector<std::string>& options) {
  const std::size_t count = options.empty() ? 26 : std::min<std::size_t>(options.size(), 26);
  return letter >= 'A' && letter < static_cast<char>('A' + static_cast<char>(count));
}

std::optional<char> only(const std::set<char>& letters) {
  return letters.size() == 1 ? std::optional(*letters.begin()) : std::nullopt;
}

// "B", "(b)", "**B.**", "[B]:": nothing but one letter and signs.
std::optional<char> lone_letter(std::string_view answer) {
  const auto found =
      std::find_if_not(answer.begin(), answer.end(), [](char c) { return is_punctuation(c) || c == ' '; });
  if (found == answer.end() || !is_letter(*found)) return {};
  const bool rest = std::all_of(found + 1, answer.end(), [](char c) { return is_punctuation(c) || c == ' '; });
  return rest ? std::optional(upper(*found)) : std::nullopt;
}

// "B. a cat", "(B) a cat", "B: a cat": a letter marked as a label at the start.
std::optional<char> label_at_start(std::string_view answer) {
  const bool bracket = skip(answer, "(");
  if (answer.size() < 2 || !is_letter(answer[0])) return {};
  const std::string_view marks = bracket ? ")" : ").:";
  return marks.find(answer[1]) != marks.npos ? std::optional(upper(answer[0])) : std::nullopt;
}

// Letters named by the answer: "(B)" anywhere, or a capital that is a word of its own, though not the article "A"
// before a small letter.
std::set<char> named_letters(std::string_view answer, const std::vector<std::string>& options, bool bracketed) {
  std::set<char> letters;
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const char before = i > 0 ? answer[i - 1] : ' ', after = i + 1 < answer.size() ? answer[i + 1] : ' ';
    if (bracketed) {
      if (before == '(' && after == ')' && is_choice(upper(answer[i]), options)) letters.insert(upper(answer[i]));
      continue;
    }
    const bool word = !is_letter(before) && !is_digit(before) && !is_letter(after) && !is_digit(after) &&
                      before != '\'' && after != '\'';
    const bool article =
        answer[i] == 'A' && after == ' ' && i + 2 < answer.size() && answer[i + 2] >= 'a' && answer[i + 2] <= 'z';
    if (word && !article && is_choice(answer[i], options)) letters.insert(answer[i]);
  }
  return letters;
}

std::string padded(std::string_view text) { return fmt::format(" {} ", normalize_answer(text)); }

// Options whose text the answer is (whole) or holds as whole words.
std::set<char> options_in(std::string_view answer, const std::vector<std::string>& options, bool whole) {
  const std::string said = padded(answer);
  std::set<char> letters;
  for (std::size_t i = 0; i < options.size() && i < 26; ++i) {
    const std::string option = padded(options[i]);
    const bool fits = whole ? said == option : said.find(option) != said.npos;
    if (fits && option.size() > 2) letters.insert(static_cast<char>('A' + static_cast<char>(i)));
  }
  return letters;
}

// Full-width forms of ASCII's signs, and those of Chinese.
bool is_wide_punctuation(utf8proc_int32_t c) {
  return (c >= 0x3000 && c <= 0x3011) || (c >= 0x3014 && c <= 0x301f) || (c >= 0x2018 && c <= 0x201f) || c == 0x2013 ||
         c == 0x2014 || c == 0x2026 || (c >= 0xff01 && c <= 0xff0f) || (c >= 0xff1a && c <= 0xff20) ||
         (c >= 0xff3b && c <= 0xff40) || (c >= 0xff5b && c <= 0xff65);
}
bool is_chinese(utf8proc_int32_t c) { return c >= 0x4e00 && c <= 0x9fff; }

// Calls visit(character, bytes) for each; -1 for a byte that begins none.
template <typename Visit>
void for_each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    utf8proc_int32_t character = -1;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &character);
    const std::size_t bytes = size > 0 ? static_cast<std::size_t>(size) : 1;
    visit(size > 0 ? character : -1, text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
}

bool has_chinese(std::string_view text) {
  bool found = false;
  for_each_character(text,
                     [&](utf8proc_int32_t character, std::string_view) { found = found || is_chinese(character); });
  return found;
}

// MAT-Coding's additions: what it drops, and blanks between the characters.
void prepare_for_coding(std::string& answer, std::string& gold) {
  const bool spaced = has_chinese(answer) || has_chinese(gold);
  for (std::string* text : {&answer, &gold}) {
    std::string kept;
    for_each_character(*text, [&](utf8proc_int32_t character, std::string_view bytes) {
      if (is_wide_punctuation(character)) return;
      kept += bytes;
      if (spaced) kept += ' ';
    });
    *text = std::move(kept);
  }
}

}  // namespace

bool exact_match(std::string_view answer, std::string_view gold) { return trim(answer) == trim(gold); }

std::string normalize_answer(std::string_view text) {
  std::string normal;
  for (const std::string& token : answer_tokens(text)) {
    if (!normal.empty()) normal += ' ';
    normal += token;
  }
  return normal;
}

bool normalized_match(std::string_view answer, std::string_view gold) {
  return normalize_answer(answer) == normalize_answer(gold);
}

std::optional<double> parse_number(std::string_view text) {
  if (const auto boxed = last_boxed(text)) text = boxed->of(text);
  text = trim(text);
  if (text.size() > 1 && text.starts_with('$') && text.ends_with('$')) text = trim(text.substr(1, text.size() - 2));
  std::string_view rest = text;
  const double sign = skip(rest, "-") ? -1 : 1;
  if (skip(rest, "\\frac") || skip(rest, "\\dfrac") || skip(rest, "\\tfrac")) return parse_latex_fraction(rest, sign);
  const std::optional<double> value = take_number(text);
  if (!value || is_unit(text)) return value;
  text = trim(text);
  if (!skip(text, "/")) return {};
  text = trim(text);
  const std::optional<double> denominator = take_number(text);
  return is_unit(text) ? quotient(value, denominator) : std::nullopt;
}

bool number_match(std::string_view answer, std::string_view gold, double relative, double absolute) {
  const auto ours = parse_number(answer), theirs = parse_number(gold);
  return ours && theirs && std::abs(*ours - *theirs) <= std::max(absolute, relative * std::abs(*theirs));
}

std::optional<char> parse_choice(std::string_view answer, const std::vector<std::string>& options) {
  answer = trim(answer);
  if (const auto letter = lone_letter(answer); letter && is_choice(*letter, options)) return letter;
  std::set<char> labels = named_letters(answer, options, true);
  if (const auto label = label_at_start(answer); label && is_choice(*label, options)) labels.insert(*label);
  if (!labels.empty()) return only(labels);
  if (const auto letters = options_in(answer, options, true); !letters.empty()) return only(letters);
  if (const auto letters = named_letters(answer, options, false); !letters.empty()) return only(letters);
  return only(options_in(answer, options, false));
}

AnswerScore score_answer(std::string_view answer, const std::vector<std::string>& golds, ScoreRule rule) {
  AnswerScore best;
  for (const std::string& gold : golds) {
    std::string ours(answer), theirs = gold;
    if (rule == ScoreRule::mat_coding) prepare_for_coding(ours, theirs);
    best.exact = best.exact || normalized_match(ours, theirs);
    best.f1 = std::max(best.f1, token_f1(ours, theirs, Overlap::set));
  }
  if (best.exact) best.f1 = 1;
  return best;
}

double token_f1(std::string_view answer, std::string_view gold, Overlap overlap) {
  const std::vector<std::string> ours = answer_tokens(answer), theirs = answer_tokens(gold);
  std::map<std::string, std::size_t> counts;
  for (const std::string& token : theirs) overlap == Overlap::set ? counts[token] = 1 : ++counts[token];
  double common = 0;
  for (const std::string& token : ours)
    if (const auto found = counts.find(token); found != counts.end() && found->second > 0) {
      --found->second;
      ++common;
    }
  return common > 0 ? 2 * common / static_cast<double>(ours.size() + theirs.size()) : 0;
}

}  // namespace agon::env
