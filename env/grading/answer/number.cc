#include "env/grading/answer/number.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "core/text.h"
#include "env/grading/answer/denied.h"
#include "env/grading/answer/missing.h"
#include "env/grading/answer/number_condition.h"
#include "env/grading/answer/number_word.h"
#include "env/grading/answer/phrases.h"
#include "env/grading/answer/reason.h"
#include "env/grading/answer/scale_word.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"

namespace agon::env {
namespace {

constexpr std::size_t kMostDigits = 2000;
constexpr int kLargestExponent = 100'000, kDeepest = 8;
constexpr std::size_t kMostUnitWords = 8;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view digits_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {};
  return text.substr(at, std::min(text.find_first_not_of("0123456789", at), text.size()) - at);
}

// A number in digits: value = digits x 10^exponent.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

std::string canonical(Decimal decimal) {
  std::string& digits = decimal.digits;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  while (!digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++decimal.exponent;
  }
  if (digits.empty()) return "0e0";
  return fmt::format("{}{}e{}", decimal.negative ? "-" : "", digits, decimal.exponent);
}

std::optional<Number> number_of(const Decimal& decimal) {
  Number number{0, canonical(decimal)};
  const char* end = number.decimal.data() + number.decimal.size();
  const auto [read, code] = std::from_chars(number.decimal.data(), end, number.value);
  if (code != std::errc() || read != end) return {};
  return number;
}

std::optional<Number> number_of(double value) {
  if (!std::isfinite(value)) return {};
  return Number{value, std::abs(value) < 1e15 && value == std::floor(value)
                           ? canonical({value < 0, fmt::format("{:.0f}", std::abs(value)), 0})
                           : ""};
}

Number negated(Number number) {
  number.value = -number.value;
  if (number.decimal.starts_with('-'))
    number.decimal.erase(0, 1);
  else if (!number.decimal.empty() && number.value != 0)
    number.decimal.insert(0, 1, '-');
  return number;
}

std::optional<Number> product(const Number& a, const Number& b) { return number_of(a.value * b.value); }
std::optional<Number> quotient(const Number& a, const Number& b) {
  return b.value == 0 ? std::nullopt : number_of(a.value / b.value);
}

constexpr std::pair<char, int> kSuffixes[] = {{'k', 3}, {'K', 3}, {'M', 6}, {'B', 9}};  // right behind the digits

constexpr std::string_view kCurrencies[] = {"usd", "eur", "gbp", "jpy", "cny", "rmb", "inr", "chf", "cad", "aud",
                                            "rub", "krw", "brl", "sek", "nok", "dkk", "pln", "hkd", "sgd", "mxn",
                                            "rs.", "rs",  "kr",  "us",  "r",   "a",   "c",   "hk",  "s",   "nz"};
// Words for a sign.
constexpr std::string_view kNegative[] = {"minus ", "negative "};
// Words before a number that change nothing.
constexpr std::string_view kHedges[] = {"=",      "\u2248",  "~",       "about",     "approximately", "approx.",
                                        "around", "roughly", "exactly", "only",      "just",          "nearly",
                                        "almost", "ca.",     "circa",   "a total of"};

// The size of the currency sign at the front of the text; 0 if there is none.
std::size_t currency_sign(std::string_view text) {
  if (text.empty()) return 0;
  const Character first = first_character(text);
  return first.code_point >= 0 && utf8proc_category(first.code_point) == UTF8PROC_CATEGORY_SC ? first.bytes : 0;
}

// A root or \u03c0.
bool begins_irrational(std::string_view text) {
  return text.starts_with("\u221a") || text.starts_with("\u03c0") || text.starts_with("sqrt(") ||
         (text.starts_with("pi") && (text.size() == 2 || !is_word_byte(text[2])));
}

// Reads values off a plain text from `at` on. Every read either moves on or leaves `at` where it was.
class NumberReader {
 public:
  NumberReader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }

  // sign, currency, value, what scales it.
  std::optional<Number> signed_value(int depth = 0) {
    bool negative = sign();
    currency();
    if (!negative) negative = sign();
    std::optional<Number> value = fraction(depth);
    if (value) value = scaled(*value);
    return value && negative ? negated(*value) : value;
  }

  // What may stand behind a number up to the end of the text.
  bool rest_is_unit() const {
    std::string_view rest = trim(text_.substr(at_));
    if (rest.ends_with('.')) rest = trim(rest.substr(0, rest.size() - 1));
    if (rest.empty() || rest == "/-") return true;
    if (denies_last(text_.substr(at_)) || bounds_last(text_.substr(at_)) || is_variable(rest)) return false;
    if (rest.front() == '^' || rest.front() == '-' || rest.front() == '*' || rest.front() == ')') return false;
    if (rest.front() == '/' && (rest.size() == 1 || !is_unit_byte(rest[1]))) return false;
    if (static_cast<std::size_t>(std::count(rest.begin(), rest.end(), ' ')) >= kMostUnitWords) return false;
    for (std::size_t i = 0; i < rest.size(); ++i)
      if (!is_unit_byte(rest[i]) && !is_unit_mark(rest, i)) return false;
    return true;
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool skip(std::string_view word) {
    if (!text_.substr(std::min(at_, text_.size())).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void skip_blanks() {
    while (peek() == ' ') ++at_;
  }
  // 3y, 3i: the rest of a number; 3x may be three times.
  bool is_variable(std::string_view rest) const {
    return at_ < text_.size() && text_[at_] != ' ' &&
           std::string_view("inyz").find(rest[0]) != std::string_view::npos &&
           (rest.size() == 1 || !is_letter(rest[1])) &&
           !(rest.size() > 1 && static_cast<unsigned char>(rest[1]) >= 0x80);
  }
  static bool is_unit_byte(char c) {
    return is_letter(c) || static_cast<unsigned char>(c) >= 0x80 || c == '%' || c == '$';
  }
  static bool is_unit_mark(std::string_view rest, std::size_t i) {
    const char c = rest[i], before = i > 0 ? rest[i - 1] : ' ', after = i + 1 < rest.size() ? rest[i + 1] : ' ';
    if (c == ' ' || c == '\'' || c == '"') return true;
    if (c == '.' || c == '-')
      return is_unit_byte(before) || (c == '-' && before == '^' && is_digit(after)) ||
             (c == '-' && before == '{' && is_digit(after));
    if (c == '/' || c == '*') return is_unit_byte(after) || after == ' ';
    if (c == '^') return is_unit_byte(before) && (is_digit(after) || after == '-' || after == '{');
    if (c == '{') return before == '^';
    if (c == '}') return is_digit(before);
    if (c == '(' || c == ')') return true;
    if (!is_digit(c)) return false;
    if (before == '^' || before == '{' || (before == '-' && i > 1 && (rest[i - 2] == '^' || rest[i - 2] == '{')))
      return !is_digit(after);
    return (c == '2' || c == '3') && is_letter(before) && !is_word_byte(after);
  }

  bool sign() {
    skip_blanks();
    const std::size_t begin = at_;
    const std::string lower = ascii_lower(text_.substr(std::min(at_, text_.size()), 10));
    for (const std::string_view word : kNegative)
      if (lower.starts_with(word) && (is_digit(peek(word.size())) || peek(word.size()) == '.')) {
        at_ += word.size();
        return true;
      }
    const bool negative = peek() == '-';
    if (peek() == '-' || peek() == '+') ++at_;
    skip_blanks();
    if (peek() == '-' || peek() == '+') at_ = begin;  // "--5"
    return negative && at_ > begin;
  }
  void currency() {
    for (int i = 0; i < 2; ++i) {
      skip_blanks();
      const std::size_t begin = at_;
      while (is_letter(peek()) && at_ - begin < 4) ++at_;
      if (peek() == '.' && at_ > begin) ++at_;
      const std::string code = ascii_lower(text_.substr(begin, at_ - begin));
      const bool known = std::find(std::begin(kCurrencies), std::end(kCurrencies), code) != std::end(kCurrencies);
      const std::size_t sign_size = currency_sign(text_.substr(std::min(at_, text_.size())));
      if ((!code.empty() && !known) || (code.size() < 2 && sign_size == 0) || (code == "us" && sign_size == 0) ||
          (code == "hk" && sign_size == 0) || (code == "nz" && sign_size == 0))
        at_ = begin;
      if (at_ != begin || code.empty()) at_ += sign_size;
      has_currency_ = has_currency_ || sign_size > 0;
    }
    skip_blanks();
  }

  // term, term / term, or a mixed number.
  std::optional<Number> fraction(int depth) {
    const std::size_t begin = at_;
    const std::optional<Number> first = term(depth);
    if (!first) return {};
    const bool plain_digits = digits_at(text_, begin).size() == at_ - begin;
    const std::size_t behind = at_;
    if (plain_digits && peek() == ' ' && is_digit(peek(1))) {
      ++at_;
      const std::size_t above_size = digits_at(text_, at_).size();
      const char slash = at_ + above_size < text_.size() ? text_[at_ + above_size] : '\0';
      if (slash == '/' && is_digit(peek(above_size + 1))) {
        const auto above = literal();
        ++at_;
        const auto below = literal();
        const auto part = above && below ? quotient(*above, *below) : std::nullopt;
        return part && glued_to_operator() == false ? number_of(first->value + part->value) : std::nullopt;
      }
      at_ = behind;
    }
    skip_blanks();
    if (peek() != '/' || (peek(1) == '-' && !is_digit(peek(2)))) {
      at_ = behind;
      return first;
    }
    ++at_;
    skip_blanks();
    const bool negative = peek() == '-';
    if (negative) ++at_;
    std::optional<Number> second = term(depth);
    if (!second) {
      if (is_digit(peek()) || peek() == '\0') return {};  // "1/", "1/2,3"
      at_ = behind;
      return first;  // "5 /hour"
    }
    if (negative) second = negated(*second);
    if (glued_to_operator()) return {};
    return quotient(*first, *second);
  }
  bool glued_to_operator() const { return (peek() == '/' && is_digit(peek(1))) || peek() == '^'; }

  // A literal, a root, π, or brackets; and roots and π right behind it.
  std::optional<Number> term(int depth) {
    std::optional<Number> value = factor(depth);
    for (int i = 0; value && i < 3; ++i) {
      const std::size_t behind = at_;
      if (peek() == ' ') ++at_;
      if (skip("\u00b7") || skip("\u00d7") || skip("*")) skip_blanks();
      if (!begins_irrational(text_.substr(std::min(at_, text_.size())))) {
        at_ = behind;
        break;
      }
      const std::optional<Number> next = factor(depth);
      value = next ? product(*value, *next) : std::nullopt;
    }
    return value;
  }
  std::optional<Number> factor(int depth) {
    if (depth >= kDeepest) return {};
    if (skip("\u03c0") || (begins_irrational(text_.substr(std::min(at_, text_.size()))) && skip("pi")))
      return number_of(std::numbers::pi);
    if (skip("\u221a") || skip("sqrt")) {
      const auto inside = peek() == '(' ? bracketed(depth + 1) : literal();
      return inside && inside->value >= 0 ? number_of(std::sqrt(inside->value)) : std::nullopt;
    }
    if (peek() == '(') return bracketed(depth + 1);
    return literal();
  }
  std::optional<Number> bracketed(int depth) {
    ++at_;
    const std::optional<Number> inside = signed_value(depth);
    skip_blanks();
    return inside && skip(")") ? inside : std::nullopt;
  }

  // Digits with their separators, point, exponent and power of ten.
  std::optional<Number> literal() {
    const std::size_t begin = at_;
    Decimal decimal;
    const bool read = whole_part(decimal) && decimals(decimal) && exponent(decimal);
    if (!read || at_ == begin || decimal.digits.empty() || decimal.digits.size() > kMostDigits) return {};
    return number_of(decimal);
  }

  // The sizes of the groups of digits that `separator` parts, from `at_` on, the first included.
  std::vector<std::size_t> groups(char separator, std::size_t first) const {
    std::vector<std::size_t> sizes = {first};
    for (std::size_t at = at_ + first; at < text_.size() && text_[at] == separator && sizes.size() < 200;) {
      const std::size_t size = digits_at(text_, at + 1).size();
      if (size == 0 || (separator == ' ' && size != 3)) break;
      sizes.push_back(size);
      at += 1 + size;
    }
    return sizes;
  }
  static bool are_thousands(const std::vector<std::size_t>& sizes, bool of_india) {
    if (sizes.size() < 2 || sizes.front() > 3 || sizes.back() != 3) return false;
    const bool threes = std::all_of(sizes.begin() + 1, sizes.end(), [](std::size_t size) { return size == 3; });
    const bool twos = of_india && sizes.front() < 3 &&
                      std::all_of(sizes.begin() + 1, sizes.end() - 1, [](std::size_t size) { return size == 2; });
    return threes || twos;
  }
  void take_groups(Decimal& decimal, const std::vector<std::size_t>& sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (i > 0) ++at_;
      decimal.digits += text_.substr(at_, sizes[i]);
      at_ += sizes[i];
    }
  }

  // False for a comma that is neither.
  bool whole_part(Decimal& decimal) {
    const std::size_t first = digits_at(text_, at_).size();
    const bool zero = first > 0 && peek() == '0';
    const char separator = first > 0 ? peek(first) : '\0';
    std::vector<std::size_t> sizes = {first};
    if (!zero && separator && std::string_view(", '_.").find(separator) != std::string_view::npos)
      sizes = groups(separator, first);
    decimal_comma_ = separator == ',' && sizes.size() == 2 && sizes.back() < 3 && unit_at(at_ + span_of(sizes));
    if (decimal_comma_) sizes.pop_back();
    if (separator == ',' && !zero && sizes.size() > 1 && !are_thousands(sizes, true)) return false;
    if (separator == ' ' && sizes.size() > 1 && text_.substr(at_ + span_of(sizes)).starts_with('/'))
      sizes.pop_back();  // "1 234/5"
    const bool points = separator == '.' && are_thousands(sizes, false) &&
                        (sizes.size() > 2 || comma_decimals_at(at_ + span_of(sizes)));
    const bool grouped = separator == '.' ? points : are_thousands(sizes, separator == ',');
    take_groups(decimal, grouped ? sizes : std::vector<std::size_t>{first});
    decimal_comma_ = decimal_comma_ || (grouped && separator != ',') || (zero && first == 1);
    return true;
  }
  static std::size_t span_of(const std::vector<std::size_t>& sizes) {
    std::size_t span = sizes.size() - 1;
    for (const std::size_t size : sizes) span += size;
    return span;
  }
  // "12,99 €", "3,5 km", "2,3 Millionen": what parts the digits before is a decimal comma.
  bool unit_at(std::size_t at) const {
    constexpr std::string_view kUnits[] = {
        "km",     "cm",           "mm",           "m",      "kg",  "g",    "l",     "ml",     "km/h", "\u043a\u043c",
        "\u043c", "\u0441\u043c", "\u043a\u0433", "\u0433", "eur", "euro", "euros", "prozent"};
    const std::string_view rest = behind(text_.substr(std::min(at, text_.size())), " ");
    if (rest.empty()) return false;
    if (rest[0] == '%' || rest.starts_with("\u00b0") || currency_sign(rest) > 0 || scale_word(rest)) return true;
    std::size_t end = 0;
    while (end < rest.size() && (is_word_byte(rest[end]) || rest[end] == '/')) ++end;
    return is_among(ascii_lower(rest.substr(0, end)), kUnits);
  }
  bool comma_decimals_at(std::size_t at) const {
    return at < text_.size() && text_[at] == ',' && !digits_at(text_, at + 1).empty();
  }

  // False for digits that go on behind them: 1.2.3, 0,5,7.
  bool decimals(Decimal& decimal) {
    const bool comma = decimal_comma_ && peek() == ',';
    if (!comma && peek() != '.') return true;
    const std::string_view digits = digits_at(text_, at_ + 1);
    if (digits.empty()) {
      if (!comma && !decimal.digits.empty() && !is_word_byte(peek(1)) && peek(1) != '.') ++at_;  // "7."
      return true;
    }
    decimal.digits += digits;
    decimal.exponent -= static_cast<int>(std::min<std::size_t>(digits.size(), kLargestExponent));
    at_ += 1 + digits.size();
    return !((peek() == '.' || (comma && peek() == ',')) && is_digit(peek(1)));
  }

  bool add_exponent(Decimal& decimal, std::string_view sign, std::string_view digits) {
    if (digits.size() > 6) return false;
    int power = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), power);
    decimal.exponent += sign == "-" ? -power : power;
    return std::abs(decimal.exponent) <= 2 * kLargestExponent;
  }

  // e3, x 10^3; the literal 10^3 itself.
  bool exponent(Decimal& decimal) {
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '-' || peek(1) == '+' ? 1 : 0;
      const std::string_view digits = digits_at(text_, at_ + 1 + sign);
      if (!digits.empty()) {
        const std::string_view mark = text_.substr(at_ + 1, sign);
        at_ += 1 + sign + digits.size();
        return add_exponent(decimal, mark, digits);
      }
    }
    if (decimal.digits == "10" && decimal.exponent == 0 && (peek() == '^' || (peek() == '*' && peek(1) == '*'))) {
      decimal.digits = "1";
      return power(decimal);
    }
    const std::size_t behind = at_;
    skip_blanks();
    if (skip("\u00d7") || skip("\u00b7") || (peek(1) != '*' && skip("*")) || skip("x") || skip("X")) {
      skip_blanks();
      if (skip("10") && (skip_blanks(), peek() == '^' || (peek() == '*' && peek(1) == '*'))) return power(decimal);
    }
    at_ = behind;
    return true;
  }
  // ^3, ^{-3}, **(3)
  bool power(Decimal& decimal) {
    if (!skip("**")) skip("^");
    skip_blanks();
    const bool braced = skip("{") || skip("(");
    const std::size_t sign = peek() == '-' || peek() == '+' ? 1 : 0;
    const std::string_view mark = text_.substr(std::min(at_, text_.size()), sign),
                           digits = digits_at(text_, at_ + sign);
    at_ += sign + digits.size();
    if (digits.empty() || (braced && !skip("}") && !skip(")"))) return false;
    return add_exponent(decimal, mark, digits);
  }

  // thousand, million, k.
  std::optional<Number> scaled(Number number) {
    int power = 0, factor = 1;
    for (const auto& [suffix, exponent] : kSuffixes)
      if (power == 0 && (peek() == suffix || (has_currency_ && peek() == 'm' && suffix == 'M')) &&
          !is_word_byte(peek(1)) && peek(1) != '/' && peek(1) != '^') {
        power = exponent;
        ++at_;
      }
    for (int i = 0; i < 3; ++i) {
      const std::size_t behind = at_;
      skip_blanks();
      const auto scale = scale_word(text_.substr(std::min(at_, text_.size())));
      if (!scale) {
        at_ = behind;
        break;
      }
      at_ += scale->bytes;
      power += scale->exponent;
      factor *= scale->factor;
    }
    if (factor > 1) return product(number, *number_of(factor * std::pow(10, power)));
    if (power == 0) return number;
    if (number.decimal.empty()) return product(number, *number_of({false, "1", power}));
    const std::size_t mark = number.decimal.find('e');
    int exponent = 0;
    std::from_chars(number.decimal.data() + mark + 1, number.decimal.data() + number.decimal.size(), exponent);
    const bool negative = number.decimal.starts_with('-');
    return number_of({negative, number.decimal.substr(negative, mark - negative), exponent + power});
  }

  std::string_view text_;
  std::size_t at_;
  bool has_currency_ = false;   // a sign stood before the digits: $4.5m are millions
  bool decimal_comma_ = false;  // of the literal being read: a comma parts its decimals
};

std::string_view without_hedges(std::string_view text) {
  for (int i = 0; i < 4; ++i) {
    text = trim(text);
    const std::string lower = ascii_lower(text.substr(0, 24));
    const auto hedge = std::find_if(std::begin(kHedges), std::end(kHedges), [&](std::string_view word) {
      return std::string_view(lower).starts_with(word) &&
             (!is_letter(word.back()) || lower.size() == word.size() || !is_word_byte(lower[word.size()]));
    });
    if (hedge == std::end(kHedges)) break;
    text.remove_prefix(hedge->size());
  }
  return text;
}

// Without pairs of brackets or quotes around the whole.
std::string_view unwrapped(std::string_view text) {
  constexpr std::string_view kOpen = "([{\"'", kClose = ")]}\"'";
  for (int i = 0; i < 4; ++i) {
    text = trim(text);
    const std::size_t kind = text.size() < 2 ? kOpen.npos : kOpen.find(text.front());
    if (kind == kOpen.npos || text.back() != kClose[kind]) break;
    const std::string_view inside = text.substr(1, text.size() - 2);
    if (inside.find_first_of(")]}") < inside.find_first_of("([{")) break;  // "(1)/(2)"
    text = inside;
  }
  return text;
}

// "30 cm (about 12 inches)" without its brackets; "a dozen (12)" has its number in them.
std::string_view without_aside(std::string_view text) {
  text = trim(text);
  if (text.ends_with('.')) text.remove_suffix(1);
  const std::size_t open = text.rfind(" (");
  if (!text.ends_with(')') || open == text.npos) return text;
  const std::string_view left = text.substr(0, open), inside = text.substr(open + 2);
  if (starts_with_any(inside, std::initializer_list<std::string_view>{"or ", "maybe", "possibly", "perhaps"}))
    return text;
  return std::any_of(left.begin(), left.end(), is_digit) || left.find("\u221a") != left.npos ||
                 left.find("\u03c0") != left.npos
             ? left
             : text;
}

// The size of the currency sign at the end of the text.
std::size_t currency_before(std::string_view text) {
  for (std::size_t size = 1; size <= std::min<std::size_t>(3, text.size()); ++size)
    if (currency_sign(text.substr(text.size() - size)) == size) return size;
  return 0;
}

bool is_operator(std::string_view between) {
  between = trim(between);
  constexpr std::string_view kOperators[] = {"+", "-",      "*",      "/",      "^",      "**",    ":",
                                             "x", "\u00d7", "\u00f7", "\u00b7", "\u00b1", "minus", "plus"};
  return std::find(std::begin(kOperators), std::end(kOperators), between) != std::end(kOperators);
}

// "sin ", "f(", "log_2(", "∛": a function of the number behind it.
bool ends_with_function(std::string_view before) {
  constexpr std::string_view kFunctions[] = {"sin", "cos", "tan", "log", "ln", "exp", "\u221b", "\u221c"};
  const std::string lower = ascii_lower(before.substr(before.size() - std::min<std::size_t>(before.size(), 24)));
  std::string_view said = trim(lower);
  const bool bracket = said.ends_with('(');
  if (bracket) said.remove_suffix(1);
  std::size_t begin = said.size();
  while (begin > 0 && (is_word_byte(said[begin - 1]) || said[begin - 1] == '_')) --begin;
  const std::string_view name = said.substr(begin);
  if (bracket && name.size() == 1 && is_letter(name[0])) return true;
  return std::any_of(std::begin(kFunctions), std::end(kFunctions), [&](std::string_view function) {
    return bracket ? name.starts_with(function)
                   : name == function || (function.size() == 3 && name.ends_with(function) && !is_letter(function[0]));
  });
}

// "Table ", "Step ": the number behind it is a name.
bool ends_with_label(std::string_view before) {
  constexpr std::string_view kNamed[] = {"table", "figure", "fig",  "step",    "question", "image",
                                         "chart", "panel",  "page", "section", "picture",  "chapter"};
  if (!before.ends_with(' ')) return false;
  const std::string_view said = trim(before);
  std::size_t begin = said.size();
  while (begin > 0 && said.size() - begin < 12 && is_word_byte(said[begin - 1])) --begin;
  return is_among(ascii_lower(said.substr(begin)), kNamed);
}

// Behind the unit that a text begins with: " cm is wrong".
std::string_view behind_unit(std::string_view text) {
  if (!text.starts_with(' ')) return {};
  std::size_t end = 1;
  while (end < text.size() && end < 16 && is_letter(text[end])) ++end;
  return end > 1 ? text.substr(end) : std::string_view();
}

// "not 5", "5 is wrong"; bounds, "x > 5" and "5 or more"; "sin 5".
bool is_no_answer(std::string_view before, std::string_view behind) {
  return denies_next(before) || bounds_next(before) || ends_with_function(before) || before.ends_with("\u00b1") ||
         ends_with_label(before) || denies_last(behind) || denies_last(behind_unit(behind)) || bounds_last(behind);
}

// Does "^", "^{" or "^-" behind a letter stand before?
bool is_power_of_unit(std::string_view text, std::size_t at) {
  while (at > 0 && std::string_view("-{(").find(text[at - 1]) != std::string_view::npos) --at;
  return at > 1 && text[at - 1] == '^' && is_word_byte(text[at - 2]) && !is_digit(text[at - 2]);
}

// The size of "minus " or "negative " at the end of the text.
std::size_t negative_word_before(std::string_view text) {
  const std::string lower = ascii_lower(text.substr(text.size() - std::min<std::size_t>(text.size(), 10)));
  for (const std::string_view word : kNegative)
    if (lower.ends_with(word) && (lower.size() == word.size() || !is_word_byte(lower[lower.size() - word.size() - 1])))
      return word.size();
  return 0;
}

// 3x, 3x4, 3y^2: of what is not one number.
bool is_variable_behind(std::string_view text, std::size_t at) {
  if (at >= text.size() || std::string_view("inxyz").find(text[at]) == std::string_view::npos) return false;
  if (at + 1 == text.size()) return text[at] != 'x';
  return is_digit(text[at + 1]) || (!is_word_byte(text[at + 1]) && text[at + 1] != '-' && text[at] != 'x');
}

// The one number of a text, if all that it holds are equal.
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
    if (at > 0 && (is_letter(text[at - 1]) || text[at - 1] == '_' || is_power_of_unit(text, at))) {  // H2O, x1, cm^2
      do ++at;
      while (at < text.size() && (is_word_byte(text[at]) || text[at] == '_'));
      continue;
    }
    const std::size_t begin = at - currency_before(text.substr(0, at));
    if (begin > 1 && text[begin - 1] == '-' && text[begin - 2] == '-') return {};
    const std::size_t word = negative_word_before(text.substr(0, begin));
    const bool dash = begin > 0 && text[begin - 1] == '-' && (begin == 1 || !is_word_byte(text[begin - 2]));
    const bool negative = dash || word > 0;
    NumberReader reader(text, at);
    std::optional<Number> number = reader.signed_value();
    if (!number || reader.at() <= at) return {};
    if (negative) number = negated(*number);
    const std::size_t after = reader.at();
    const bool joined = after + 1 < text.size() && is_digit(text[after + 1]) &&
                        std::string_view(",.:/^").find(text[after]) != std::string_view::npos;
    const std::size_t start = begin - (dash ? 1 : word);
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

std::optional<Number> parse_or_only(std::string_view text) {
  if (const auto number = parse_plain_number(text)) return number;
  return only_number(without_aside(text));
}

// What stands behind the last "=" or "≈", where the text is one equation: no second one beside it.
std::optional<Number> behind_equals(std::string_view text) {
  std::size_t first = text.npos, last = text.npos, size = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool about = text.substr(at).starts_with("\u2248");
    const bool equals = text[at] == '=' &&
                        (at == 0 || std::string_view("<>!=").find(text[at - 1]) == std::string_view::npos) &&
                        (at + 1 == text.size() || text[at + 1] != '=');
    if (!about && !equals) continue;
    if (first == text.npos) first = at;
    last = at;
    size = about ? 3 : 1;
  }
  if (last == text.npos) return {};
  const std::string_view between = text.substr(first, last - first);
  if (between.find_first_of(",;\n") != between.npos || between.find(" and ") != between.npos ||
      between.find(" or ") != between.npos)
    return {};
  return parse_or_only(text.substr(last + size));
}

// "T = 300K", "a temperature of 300K" with a blank before each K: kelvin, not thousands. Other texts as they are.
std::string with_kelvin_apart(std::string_view text) {
  const bool heat = ascii_lower(text).find("temperature") != std::string::npos || text.find("T =") != text.npos ||
                    text.find("T=") != text.npos;
  std::string apart;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends = i + 1 == text.size() || !is_word_byte(text[i + 1]);
    if (heat && text[i] == 'K' && i > 0 && is_digit(text[i - 1]) && ends) apart += ' ';
    apart += text[i];
  }
  return apart;
}

// A whole text, in digits or in words.
std::optional<Number> whole_number(std::string_view text) {
  if (const auto number = parse_plain_number(text)) return number;
  const auto digits = number_words_in_digits(text);
  return digits ? parse_plain_number(*digits) : std::nullopt;
}

// "42, 45", "(42; 45)": numbers alone, more than one.
bool lists_numbers(std::string_view text) {
  while (!text.empty() && std::string_view("([{ ").find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  while (!text.empty() && std::string_view(")]}. ").find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  std::size_t count = 0;
  for (std::size_t at = 0; at <= text.size() && count < 64; ++count) {
    const std::size_t end = std::min(text.find_first_of(",;", at), text.size());
    const std::string_view part = trim(text.substr(at, end - at));
    if (part.empty() || part.size() > 40 || !is_digit(part.back()) || !parse_plain_number(part)) return false;
    at = end + 1;
    if (at < text.size() && text[at] != ' ' && text[at - 1] == ',') return false;  // 1,234
  }
  return count > 1;
}

// Where " - " parts an answer from its reason: not between the parts of a sum.
std::size_t dash_of_reason(std::string_view text) {
  const std::size_t at = text.find(" - ");
  const bool sum = at != text.npos && at > 0 && at + 3 < text.size() &&
                   ((is_digit(text[at - 1]) && is_digit(text[at + 3])) || text.find('=', at) != text.npos);
  return sum ? text.npos : at;
}

// "120 / 18 = 6.67, which we round up to 7 boxes": behind the last "round", unless it names places.
std::optional<Number> rounded(std::string_view text) {
  const std::string lower = ascii_lower(text);
  if (const std::size_t behind = lower.find(" when rounded"); behind != lower.npos) {
    const std::size_t restated = lower.rfind(" or ", behind);
    return restated == lower.npos ? std::nullopt : only_number(text.substr(restated, behind - restated));
  }
  const std::size_t at = lower.rfind(" round");
  if (at == lower.npos) return {};
  const std::size_t to = lower.find(" to ", at);
  if (to == lower.npos || to - at > 16) return {};
  const std::string_view said = std::string_view(lower).substr(to);
  if (contains_any(said,
                   std::initializer_list<std::string_view>{"decimal", "significant", "nearest", "place", "digit"}))
    return {};
  return only_number(text.substr(to + 4));
}

// The value of a phrase: its sentence, or that up to where a reason begins.
std::optional<Number> of_phrase(std::string_view sentence) {
  if (sentence.starts_with("not ")) return {};
  if (const auto number = rounded(sentence)) return number;
  std::size_t end = std::min(before_reason(sentence).size(), dash_of_reason(sentence));
  for (const std::string_view break_at : {", ", " (", "; ", " which", " so "})
    end = std::min(end, sentence.find(break_at));
  for (const std::string_view part : {sentence, sentence.substr(0, end)})
    if (const auto number = whole_number(part)) return number;
  for (const std::string_view part : {sentence.substr(0, end), sentence}) {
    if (const auto number = behind_equals(part)) return number;
    if (const auto number = only_number(part)) return number;
  }
  return {};
}

constexpr std::string_view kConclusions[] = {" is ",
                                             " are ",
                                             " was ",
                                             " were ",
                                             " equals ",
                                             " gives ",
                                             " get ",
                                             " total ",
                                             "so ",
                                             "then ",
                                             "thus",
                                             "hence",
                                             "total: ",
                                             "altogether",
                                             "we have ",
                                             " make ",
                                             " makes ",
                                             "making ",
                                             " sind ",
                                             " y en a ",
                                             " hay ",
                                             "therefore",
                                             "should be ",
                                             " increase of ",
                                             "i.e. ",
                                             " decrease of ",
                                             " mean ",
                                             " difference of ",
                                             " means ",
                                             " cost ",
                                             " costs ",
                                             " leaves ",
                                             "leaving ",
                                             "now ",
                                             " corresponds to ",
                                             "it's ",
                                             "that's ",
                                             "\u5e94\u8be5\u662f",
                                             "\u6240\u4ee5",
                                             "\u56e0\u6b64"};

// Behind the last "is", "are", "so" and the like that a number stands behind, to the end of the text.
std::optional<Number> behind_conclusion(std::string_view text) {
  const std::string lower = ascii_lower(text);
  const auto last_before = [&](std::size_t end) {
    std::size_t last = 0;
    for (const std::string_view word : kConclusions) {
      const std::size_t at = end < word.size() ? lower.npos : lower.rfind(word, end - word.size());
      if (at != lower.npos) last = std::max(last, at + word.size());
    }
    return last;
  };
  std::size_t last = last_before(lower.size());
  for (int i = 0; i < 3 && last > 0 && !has_digit(std::string_view(lower).substr(last)); ++i) {
    if (const auto words = whole_number(text.substr(last))) return words;
    last = last_before(last - 1);
  }
  if (last == 0 || is_no_answer(text.substr(0, last), {})) return {};
  return only_number(text.substr(last));
}

// What a correction puts in the place of all before it: its phrase, or a short sentence that is a number, or what it
// concludes.
std::optional<Number> of_correction(std::string_view text) {
  for (const std::string_view correction : corrections_in(text)) {
    for (const Phrase& phrase : answer_phrases(correction))
      if (const auto number = of_phrase(phrase.sentence)) return number;
    const auto number = whole_number(corrected_sentence(correction));
    const auto besides = only_number(correction);
    if (number && (!besides || equal_numbers(*besides, *number))) return number;
    if (const auto concluded = behind_conclusion(correction)) return concluded;
    const std::size_t last = trim(correction).substr(0, std::max<std::size_t>(correction.size(), 1) - 1).rfind(". ");
    if (last != correction.npos)
      if (const auto closing = whole_number(correction.substr(last + 2))) return closing;
  }
  return {};
}

bool names_sum(std::string_view line) {
  const std::string lower = ascii_lower(line);
  for (const std::string_view word : {"total", "sum", "=", "altogether", "in all", "so ", "answer", "result", "differ"})
    if (lower.find(word) != lower.npos) return true;
  return false;
}

// "4 dogs": a line that is a number and at most one word.
std::optional<Number> short_line_number(std::string_view line) {
  const bool listed = line.starts_with("- ") || digits_at(line, 0).size() == line.find(". ");  // "1. dog"
  if (std::count(line.begin(), line.end(), ' ') > 1 || listed) return {};
  return parse_plain_number(line);
}

// "3", then an explanation, and no second line of the kind.
std::optional<Number> first_line_number(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.size() == text.size()) return {};
  const std::string_view rest = text.substr(line.size() + 1);
  return short_line_number(rest.substr(0, rest.find('\n'))) ? std::nullopt : short_line_number(line);
}

// "- 2 black", "* 2 black", "1. two black", "| black | 2 |".
bool is_list_item(std::string_view line) {
  if (starts_with_any(line, std::initializer_list<std::string_view>{"- ", "* ", "\u2022 ", "\u00b7 ", "|"}))
    return true;
  const std::size_t digits = digits_at(line, 0).size();
  return digits > 0 && digits < 3 && (line.substr(digits).starts_with(". ") || line.substr(digits).starts_with(") "));
}

// Is every line a bullet or a short line with a number, and does the last one name no sum? Then none is the answer.
bool lists_lines(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const bool part = is_list_item(line) && std::any_of(line.begin(), line.end(), is_digit);
    if (!part && !short_line_number(line)) return false;
    at = end + 1;
  }
  return count > 1 && !names_sum(last_line(text));
}

// "There are 4 cats:", then a list of them that ends the text and draws no sum: what stands before the list.
std::string_view before_details(std::string_view text) {
  std::string_view rest = text;
  while (is_list_item(last_line(rest)) && last_line(rest).size() < rest.size())
    rest = trim(rest.substr(0, rest.size() - last_line(rest).size() - 1));
  return rest.size() == text.size() || is_list_item(rest) || names_sum(last_line(text)) ? text : rest;
}

// Of several lines, the only one that names a total: "Total: 6", then its parts.
std::optional<Number> total_line(std::string_view text) {
  std::optional<Number> total;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (ascii_lower(line.substr(0, 6)).starts_with("total")) {
      const auto number = only_number(line);
      if (!number || total) return {};
      total = number;
    }
    at = end + 1;
  }
  return text.find('\n') == text.npos ? std::nullopt : total;
}

// The size of a year behind "in" or "of", or of an ordinal, that begins there: "in 2015", "17th"; 0: none does.
std::size_t year_or_ordinal(std::string_view text) {
  const std::string_view digits = digits_at(text, 0);
  if (!digits.empty()) {
    const std::string_view ending = text.substr(digits.size(), 2);
    if (digits.size() == 4 && text.substr(4).starts_with("\u5e74")) return 7;
    return is_among(ending, std::initializer_list<std::string_view>{"st", "nd", "rd", "th"}) ? digits.size() + 2 : 0;
  }
  const std::string_view year = digits_at(text, 3);
  if (year.size() != 4 || (!year.starts_with("19") && !year.starts_with("20"))) return 0;
  return is_among(ascii_lower(text.substr(0, 3)), std::initializer_list<std::string_view>{"in ", "of "}) ? 7 : 0;
}

// "In 2015, 38% of adults smoked", "The 4th bar has 37": without years and ordinals.
std::string without_years(std::string_view text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const bool apart = at == 0 || !is_word_byte(text[at - 1]);
    if (const std::size_t size = apart ? year_or_ordinal(text.substr(at)) : 0)
      at += size;
    else
      kept += text[at++];
  }
  return kept;
}

// Where the clause of the last "=" begins: behind a word that concludes, or a sentence's end.
struct Clause {
  std::size_t begin = 0;
  bool concludes = false;
};
Clause clause_of_last_equation(std::string_view text) {
  constexpr std::string_view kConcluding[] = {
      "so ",         "thus",         "therefore",    "hence",    "gives ",    "giving ",  "means ",
      "from which ", "leading to ",  "leads to ",    "implies ", "implying ", "we have ", "we get ",
      "we obtain ",  "\u6240\u4ee5", "\u56e0\u6b64", "\u2234",   "\u6545"};
  const std::string lower = ascii_lower(text.substr(0, text.rfind('=')));
  Clause clause;
  for (const std::string_view end : {". ", "; ", ", ", "\n"})
    if (const std::size_t at = lower.rfind(end); at != lower.npos)
      clause.begin = std::max(clause.begin, at + end.size());
  const std::size_t stop = std::min(lower.find_last_of(".;\n"), lower.size());
  const std::string_view sentence = behind(std::string_view(lower).substr(stop), ".;\n ");
  clause.concludes = starts_with_any(sentence, std::initializer_list<std::string_view>{"since ", "because ", "as "});
  for (const std::string_view word : kConcluding)
    if (const std::size_t at = lower.rfind(word); at != lower.npos && at >= clause.begin)
      clause = {at + word.size(), true};
  return clause;
}

// Of several equations the last, where its clause concludes or computes: "..., so x = 55", "...; cost = 56 * 4 = 224",
// or where a line before it begins with "=".
std::optional<Number> last_equation(std::string_view text) {
  const std::size_t last = text.rfind('=');
  if (last == text.npos) return {};
  const Clause clause = clause_of_last_equation(text);
  const std::string_view said = text.substr(clause.begin);
  const std::string_view left = said.substr(0, last - clause.begin);
  const bool computes = left.find('=') != left.npos || left.find_first_of("+*/") != left.npos ||
                        contains_any(left, std::initializer_list<std::string_view>{" - ", "\u00d7", "\u00f7"});
  const bool derives = text.find("\n=") != text.npos || text.find("\n =") != text.npos ||
                       (text.substr(0, clause.begin).find_first_of("+*/^") != text.npos && clause.begin > 0);
  return clause.concludes || computes || derives ? behind_equals(said) : std::nullopt;
}

// In a text without a phrase: by its signs and words.
std::optional<Number> in_sentences(std::string_view plain) {
  if (const auto number = behind_equals(plain)) return number;
  if (const auto number = only_number(without_aside(plain))) return number;
  if (const auto number = last_equation(plain)) return number;
  const std::string_view text = before_details(plain);
  if (text.size() < plain.size())
    if (const auto number = only_number(text)) return number;
  if (const auto number = behind_conclusion(text)) return number;
  const std::string_view line = last_line(plain);
  if (line.size() == plain.size()) return {};
  if (const auto number = behind_equals(line)) return number;
  return parse_or_only(line.starts_with("- ") ? line.substr(2) : line);
}

// Without its last sentence or line.
std::string_view before_last_sentence(std::string_view text) {
  const std::string_view said = trim(text);
  std::size_t end = 0;
  for (const std::string_view mark : {". ", "! ", "? ", ".\n", "\n"})
    if (const std::size_t at = said.rfind(mark); at != said.npos) end = std::max(end, at + 1);
  return said.substr(0, end);
}

// Does a sentence hold a number that equals this one?
bool holds(std::string_view sentence, const Number& number) {
  for (std::size_t at = 0; at < sentence.size(); ++at) {
    if (!is_digit(sentence[at]) || (at > 0 && is_word_byte(sentence[at - 1]))) continue;
    NumberReader reader(sentence, at);
    const auto found = reader.signed_value();
    if (found && equal_numbers(*found, number)) return true;
    at = std::max(at, reader.at());
  }
  return false;
}

// "480 / 60 = 8. The car needs 8 hours to cover 480 km": the result of the last equation, which the last sentence says.
std::optional<Number> result_said_again(std::string_view before, std::string_view sentence) {
  const std::size_t equals = before.rfind('=');
  if (equals == before.npos) return {};
  const std::string_view result = before.substr(equals + 1);
  const auto number = only_number(result.substr(0, std::min(first_sentence(result).size(), result.find('\n'))));
  return number && holds(sentence, *number) ? number : std::nullopt;
}

// The only number of the last sentence that has one, or the one there that the last equation before it gives.
std::optional<Number> in_last_sentence(std::string_view text) {
  constexpr std::size_t kReach = 4000;
  text = last_bytes(text, kReach);
  constexpr std::string_view kHedging[] = {"could be", "might be", "may be", "maybe", "perhaps", "possibly"};
  while (!text.empty()) {
    const std::string_view before = before_last_sentence(text.substr(0, text.find_last_not_of(" \n.!?") + 1));
    const std::string_view sentence = text.substr(before.size());
    if (has_digit(sentence)) {
      if (before.empty() || contains_any(ascii_lower(sentence), kHedging)) return {};
      const auto number = only_number(sentence);
      return number ? number : result_said_again(before, sentence);
    }
    if (before.size() >= text.size()) break;
    text = before;
  }
  return {};
}

// In a text without a phrase.
std::optional<Number> without_phrase(std::string_view plain) {
  if (const auto number = total_line(plain)) return number;
  if (lists_lines(plain)) return {};
  if (const auto number = first_line_number(plain)) return number;
  if (const auto number = rounded(plain)) return number;
  const std::string answers = without_reasons(plain), bare = without_conditions(answers);
  if (const auto number = in_sentences(bare)) return number;
  if (const auto number = in_sentences(without_years(bare))) return number;
  if (const auto number = in_sentences(answers)) return number;
  if (const auto number = in_sentences(plain)) return number;
  if (const auto number = in_sentences(without_conditions(plain))) return number;
  if (const auto number = in_sentences(without_years(plain))) return number;
  if (const auto number = in_last_sentence(bare)) return number;
  const auto words = only_number_in_words(plain);
  return words ? parse_plain_number(*words) : std::nullopt;
}

// "8.\n8.\n8.": nothing but one line again and again.
bool repeats_a_line(std::string_view text) {
  const std::string_view line = last_line(text);
  std::string_view rest = text;
  while (rest.starts_with(line) && rest.size() > line.size() && rest[line.size()] == '\n')
    rest.remove_prefix(line.size() + 1);
  return rest == line && line.size() < text.size();
}

}  // namespace

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

std::optional<Number> parse_plain_number(std::string_view plain) {
  const std::string_view text = without_hedges(unwrapped(without_hedges(plain)));
  NumberReader reader(text, 0);
  const std::optional<Number> number = reader.signed_value();
  return number && reader.rest_is_unit() ? number : std::nullopt;
}

std::optional<Number> read_number(std::string_view text) {
  const std::string_view said = repeats_a_line(text) ? last_line(text) : text;
  const std::string apart = without_places_of_variables(with_kelvin_apart(said));
  const std::string_view plain = without_closing(apart);
  if (digits_at(plain, 0).size() + 1 == plain.size() && plain.ends_with('!')) return {};  // "5!"
  if (const auto number = whole_number(plain)) return number;
  const bool broken = breaks_off(plain);
  const std::string_view finished = broken ? before_last_sentence(plain) : plain;
  if (const auto number = of_correction(finished)) return number;
  for (const Phrase& phrase : answer_phrases(finished)) {
    if (lists_numbers(phrase.value) || refuses_first(phrase.sentence)) return {};
    if (const auto number = of_phrase(phrase.sentence)) return number;
  }
  return broken || refuses(plain) ? std::nullopt : without_phrase(before_check(plain));
}

std::string to_string(const Number& number) {
  return number.is_whole() && std::abs(number.value) < 1e15 ? fmt::format("{:.0f}", number.value)
                                                            : fmt::format("{}", number.value);
}

}  // namespace agon::env
