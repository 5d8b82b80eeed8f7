#include "env/suites/charts/claims.h"

#include <fmt/format.h>

#include <cctype>

#include "core/text.h"
#include "env/kit/draw.h"
#include "env/protocol.h"

namespace agon::env {
namespace {

constexpr int kMaxDigits = 4;

// Reads a step from left to right; every method skips white space, then takes what it names or nothing.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool end() {
    skip_space();
    return rest_.empty() || rest_ == ".";
  }

  bool symbol(char wanted) {
    skip_space();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool word(std::string_view wanted) {
    skip_space();
    std::size_t length = 0;
    while (length < rest_.size() && std::isalpha(static_cast<unsigned char>(rest_[length]))) ++length;
    if (length != wanted.size()) return false;
    for (std::size_t i = 0; i < length; ++i)
      if (std::tolower(static_cast<unsigned char>(rest_[i])) != wanted[i]) return false;
    rest_.remove_prefix(length);
    return true;
  }

  std::optional<int> color() {
    for (std::size_t i = 0; i < palette().size(); ++i)
      if (word(palette()[i].name)) return static_cast<int>(i);
    return std::nullopt;
  }

  std::optional<int> number() {
    skip_space();
    const std::size_t sign = !rest_.empty() && rest_.front() == '-' ? 1 : 0;
    std::size_t end = sign;
    int value = 0;
    for (; end < rest_.size() && std::isdigit(static_cast<unsigned char>(rest_[end])); ++end) {
      if (end - sign == kMaxDigits) return std::nullopt;
      value = value * 10 + (rest_[end] - '0');
    }
    if (end == sign) return std::nullopt;
    rest_.remove_prefix(end);
    return sign ? -value : value;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front()))) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

std::optional<Claim> parse_about_color(Reader reader) {
  const std::optional<int> color = reader.color();
  if (!color || !reader.word("is")) return std::nullopt;
  if (const std::optional<int> value = reader.number())
    return reader.end() ? std::optional<Claim>(Reading{*color, *value}) : std::nullopt;
  reader.word("the");
  const bool highest = reader.word("highest");
  if (!highest && !reader.word("lowest")) return std::nullopt;
  return reader.end() ? std::optional<Claim>(Extreme{*color, highest}) : std::nullopt;
}

std::optional<Claim> parse_formula(Reader reader) {
  const std::optional<int> left = reader.number();
  if (!left) return std::nullopt;
  for (const char sign : {'+', '-', '<', '>'}) {
    if (!reader.symbol(sign)) continue;
    const std::optional<int> right = reader.number();
    if (!right) return std::nullopt;
    if (sign == '<' || sign == '>')
      return reader.end() ? std::optional<Claim>(Comparison{*left, sign, *right}) : std::nullopt;
    if (!reader.symbol('=')) return std::nullopt;
    const std::optional<int> result = reader.number();
    return result && reader.end() ? std::optional<Claim>(Arithmetic{*left, sign, *right, *result}) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Claim> parse_selection(Reader reader) {
  Selection selection;
  selection.above = reader.word("above");
  if (!selection.above && !reader.word("below")) return std::nullopt;
  const std::optional<int> threshold = reader.number();
  if (!threshold || !reader.symbol(':')) return std::nullopt;
  selection.threshold = *threshold;
  if (reader.word("none")) return reader.end() ? std::optional<Claim>(selection) : std::nullopt;
  do {
    const std::optional<int> color = reader.color();
    if (!color) return std::nullopt;
    selection.colors.push_back(*color);
  } while (reader.symbol(','));
  return reader.end() ? std::optional<Claim>(selection) : std::nullopt;
}

std::string_view name_of_color(int color) { return palette()[static_cast<std::size_t>(color)].name; }

std::string format(const Reading& claim) { return fmt::format("{} is {}", name_of_color(claim.color), claim.value); }
std::string format(const Extreme& claim) {
  return fmt::format("{} is {}", name_of_color(claim.color), claim.highest ? "highest" : "lowest");
}
std::string format(const Arithmetic& claim) {
  return fmt::format("{} {} {} = {}", claim.left, claim.operation, claim.right, claim.result);
}
std::string format(const Comparison& claim) { return fmt::format("{} {} {}", claim.left, claim.relation, claim.right); }
std::string format(const Selection& claim) {
  std::string names;
  for (const int color : claim.colors) {
    if (!names.empty()) names += ", ";
    names += name_of_color(color);
  }
  return fmt::format("{} {}: {}", claim.above ? "above" : "below", claim.threshold, names.empty() ? "none" : names);
}
std::string format(const AnswerClaim& claim) { return wrap(Tag::answer, claim.text); }

}  // namespace

std::optional<Claim> parse_claim(std::string_view step) {
  if (const std::optional<std::string> answer = extract_answer(step)) return AnswerClaim{*answer};
  const Reader reader{trim(step)};
  if (auto claim = parse_about_color(reader)) return claim;
  if (auto claim = parse_formula(reader)) return claim;
  return parse_selection(reader);
}

std::string format_claim(const Claim& claim) {
  return std::visit([](const auto& alternative) { return format(alternative); }, claim);
}

}  // namespace agon::env
