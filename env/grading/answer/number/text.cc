#include "env/grading/answer/number/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/text.h"
#include "env/grading/answer/denied.h"
#include "env/grading/answer/scale_word.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

constexpr std::size_t kMostDigits = 2000;
constexpr int kLargestExponent = 100'000, kDeepest = 8;
constexpr std::size_t kMostUnitWords = 8;

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

std::optional<Number> product(const Number& a, const Number& b) { return number_of(a.value * b.value); }
std::optional<Number> quotient(const Number& a, const Number& b) {
  return b.value == 0 ? std::nullopt : number_of(a.value / b.value);
}

constexpr std::pair<char, int> kSuffixes[] = {{'k', 3}, {'K', 3}, {'M', 6}, {'B', 9}};  // right after the digits

constexpr std::string_view kCurrencies[] = {"usd", "eur", "gbp", "jpy", "cny", "rmb", "inr", "chf", "cad", "aud",
                                            "rub", "krw", "brl", "sek", "nok", "dkk", "pln", "hkd", "sgd", "mxn",
                                            "rs.", "rs",  "kr",  "us",  "r",   "a",   "c",   "hk",  "s",   "nz"};
// Words before a number that do not change it.
constexpr std::string_view kHedges[] = {"=",      "\u2248",  "~",       "about",     "approximately", "approx.",
                                        "around", "roughly", "exactly", "only",      "just",          "nearly",
                                        "almost", "ca.",     "circa",   "a total of"};

// Reads values from a plain text, from `at` on. Every read either moves `at` forward or leaves it unchanged.
class NumberReader {
 public:
  NumberReader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }

  // sign, currency, value, scale word.
  std::optional<Number> signed_value(int depth = 0) {
    bool negative = sign();
    currency();
    if (!negative) negative = sign();
    std::optional<Number> value = fraction(depth);
    if (value) value = scaled(*value);
    return value && negative ? negated(*value) : value;
  }

  // Is the rest of the text empty or a unit, so that the text is one number?
  bool rest_is_unit() const {
    std::string_view rest = trim(text_.substr(at_));
    if (rest.ends_with('.')) rest = trim(rest.substr(0, rest.size() - 1));
    if (rest.empty() || rest == "/-") return true;
    if (denies_last(text_.substr(at_)) || bounds_last(text_.substr(at_)) || is_variable(rest)) return false;
    if (rest.front() == '^' || rest.front() == '-' || rest.front() == '*' || rest.front() == ')') return false;
    if (rest.front() == '/' && (rest.size() == 1 || !is_unit_byte(rest[1]))) return false;
    if (rest.size() == 2 && rest[0] == '/' && std::string_view("nxyz").find(rest[1]) != std::string_view::npos)
      return false;  // 2/x
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
  // 3y, 3i: a variable follows the number; 3x may mean "three times".
  bool is_variable(std::string_view rest) const {
    if (at_ < text_.size() && text_[at_] != ' ' && begins_product(rest)) return true;
    return at_ < text_.size() && text_[at_] != ' ' &&
           std::string_view(rest.size() > 1 && rest[1] == '^' ? "inxyz" : "inyz").find(rest[0]) !=
               std::string_view::npos &&
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
    for (const std::string_view word : kNegativeWords)
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
      has_currency_ = has_currency_ || at_ > begin;
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
        if (!part || glued_to_operator()) return {};
        return with_irrationals(number_of(first->value + part->value), depth, Joined::in_any_way);
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
    std::optional<Number> second = term(depth, Joined::written_together);
    if (!second) {
      if (is_digit(peek()) || peek() == '\0') return {};  // "1/", "1/2,3"
      at_ = behind;
      return first;  // "5 /hour"
    }
    if (negative) second = negated(*second);
    if (glued_to_operator()) return {};
    return with_irrationals(quotient(*first, *second), depth, Joined::in_any_way);
  }
  bool glued_to_operator() const { return (peek() == '/' && is_digit(peek(1))) || peek() == '^'; }

  // A literal, a root, π, or brackets, then roots and π right after it. A denominator takes only those written together
  // with it: "1/2π", but "1/2 · π" is half of π.
  enum class Joined { written_together, in_any_way };
  std::optional<Number> term(int depth, Joined joined = Joined::in_any_way) {
    return with_irrationals(factor(depth), depth, joined);
  }
  std::optional<Number> with_irrationals(std::optional<Number> value, int depth, Joined joined) {
    for (int i = 0; value && i < 3; ++i) {
      const std::size_t behind = at_;
      if (joined == Joined::in_any_way) skip_operator();
      if (!begins_irrational(text_.substr(std::min(at_, text_.size())))) {
        at_ = behind;
        break;
      }
      const std::optional<Number> next = factor(depth);
      value = next ? product(*value, *next) : std::nullopt;
    }
    return value;
  }
  void skip_operator() {
    if (peek() == ' ') ++at_;
    if (skip("\u00b7") || skip("\u00d7") || skip("*")) skip_blanks();
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

  // The sizes of the groups of digits from `at_` on, split by `separator`; `first`: the size of the first one.
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

  // The digits before the decimals. False for a comma that separates neither thousands nor decimals.
  bool whole_part(Decimal& decimal) {
    const std::size_t first = digits_at(text_, at_).size();
    const bool zero = first > 0 && peek() == '0';
    const char separator = first > 0 ? peek(first) : '\0';
    std::vector<std::size_t> sizes = {first};
    if (!zero && separator && std::string_view(", '_.").find(separator) != std::string_view::npos)
      sizes = groups(separator, first);
    decimal_comma_ =
        separator == ',' && sizes.size() == 2 && sizes.back() < 3 && (has_currency_ || unit_at(at_ + span_of(sizes)));
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
  // "12,99 €", "3,5 km", "2,3 Millionen": a unit at `at` makes the comma before it a decimal comma.
  bool unit_at(std::size_t at) const {
    constexpr std::string_view kUnits[] = {
        "km",     "cm",           "mm",           "m",      "kg",  "g",    "l",     "ml",      "km/h", "\u043a\u043c",
        "\u043c", "\u0441\u043c", "\u043a\u0433", "\u0433", "eur", "euro", "euros", "prozent", "usd",  "chf",
        "pln",    "z\u0142",      "k\u010d",      "kr",     "lei", "ft",   "руб",   "р",       "грн"};
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

  // False if more digits follow the decimals: 1.2.3, 0,5,7.
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
  bool has_currency_ = false;   // a currency precedes the digits: $4.5m are millions, EUR 12,99 is decimal
  bool decimal_comma_ = false;  // a comma in the literal being read is a decimal comma
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

// The text without pairs of brackets or quotes around the whole.
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

}  // namespace

std::optional<Number> parse_plain_number(std::string_view plain) {
  const std::string_view text = without_hedges(unwrapped(without_hedges(plain)));
  NumberReader reader(text, 0);
  const std::optional<Number> number = reader.signed_value();
  return number && reader.rest_is_unit() ? number : std::nullopt;
}

NumberAt number_at(std::string_view plain, std::size_t at) {
  NumberReader reader(plain, at);
  std::optional<Number> number = reader.signed_value();
  return {std::move(number), reader.at()};
}

std::string_view digits_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {};
  return text.substr(at, std::min(text.find_first_not_of("0123456789", at), text.size()) - at);
}

std::size_t currency_sign(std::string_view text) {
  if (text.empty()) return 0;
  const Character first = first_character(text);
  return first.code_point >= 0 && utf8proc_category(first.code_point) == UTF8PROC_CATEGORY_SC ? first.bytes : 0;
}

bool begins_product(std::string_view text) {
  constexpr std::string_view kProducts[] = {"ab", "abc", "ac", "bc", "xy", "xyz", "xz", "yz"};
  return std::any_of(std::begin(kProducts), std::end(kProducts), [&](std::string_view product) {
    return text.starts_with(product) && (text.size() == product.size() || !is_word_byte(text[product.size()]));
  });
}

bool begins_irrational(std::string_view text) {
  return text.starts_with("\u221a") || text.starts_with("\u03c0") || text.starts_with("sqrt(") ||
         (text.starts_with("pi") && (text.size() == 2 || !is_word_byte(text[2])));
}

}  // namespace agon::env
