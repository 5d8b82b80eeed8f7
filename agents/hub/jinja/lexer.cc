#include "agents/hub/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <optional>

#include "agents/hub/jinja/text.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::agents::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// Converts every line break to "\n" and removes one at the end.
std::string normalized(std::string_view source) {
  std::string text = replace_all(replace_all(source, "\r\n", "\n"), "\r", "\n");
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// The delimiters of a block, an output or a comment.
struct Delimiters {
  std::string_view begin, end;
  Token::Kind begin_kind, end_kind;
};
constexpr Delimiters kBlock{"{%", "%}", Token::Kind::block_begin, Token::Kind::block_end};
constexpr Delimiters kOutput{"{{", "}}", Token::Kind::output_begin, Token::Kind::output_end};
constexpr Delimiters kComment{"{#", "#}", Token::Kind::end, Token::Kind::end};

class Lexer {
  using Kind = Token::Kind;

 public:
  explicit Lexer(std::string_view source) : source_(normalized(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      const std::size_t begin = find_begin();
      const Delimiters* delimiters = begin == std::string::npos ? nullptr : &delimiters_at(begin);
      add_data(begin, delimiters != &kOutput);
      if (delimiters == nullptr) break;
      skip_sign();
      if (delimiters == &kComment)
        skip_comment();
      else if (delimiters == &kOutput || !add_raw())
        add_tokens(*delimiters);
      line_starts_ = source_[at_ - 1] == '\n';
    }
    add(Kind::end, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw Error("line {}: {}", line_, why); }
  std::string_view rest() const { return std::string_view(source_).substr(at_); }
  void add(Kind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }
  void advance(std::size_t bytes) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(at_ + bytes), '\n'));
    at_ += bytes;
  }
  void skip_blanks() { advance(rest().size() - strip(rest(), Side::left).size()); }

  std::size_t find_begin() const {
    std::size_t at = at_;
    while ((at = source_.find('{', at)) != std::string::npos) {
      if (at + 1 < source_.size() && std::string_view("{%#").find(source_[at + 1]) != std::string_view::npos) return at;
      ++at;
    }
    return at;
  }
  const Delimiters& delimiters_at(std::size_t at) const {
    return source_[at + 1] == '%' ? kBlock : source_[at + 1] == '{' ? kOutput : kComment;
  }

  // Adds the text before the block that begins at `begin`, and skips the two characters that open the block.
  void add_data(std::size_t begin, bool strips_line) {
    const std::string_view text = rest().substr(0, begin == std::string::npos ? begin : begin - at_);
    const char sign = begin == std::string::npos || begin + 2 >= source_.size() ? ' ' : source_[begin + 2];
    std::string_view kept = text;
    if (begin != std::string::npos && sign == '-')
      kept = strip(text, Side::right);
    else if (begin != std::string::npos && sign != '+' && strips_line)
      kept = without_indentation(text);
    if (!kept.empty()) add(Kind::data, std::string(kept));
    advance(text.size() + (begin == std::string::npos ? 0 : 2));
  }
  std::string_view without_indentation(std::string_view text) const {
    const std::size_t line = text.rfind('\n') + 1;  // 0 if the text is all on one line
    const bool whole_line = line > 0 || line_starts_;
    return whole_line && strip(text.substr(line), Side::left).empty() ? text.substr(0, line) : text;
  }
  void skip_sign() {
    if (rest().starts_with('-') || rest().starts_with('+')) advance(1);
  }

  // Skips "-%}" with the white space after it, "+%}", or "%}" with one line break. False if none of these is here.
  bool skip_end(std::string_view end, bool trims_line) {
    const std::string_view here = rest();
    if (here.starts_with('-') && here.substr(1).starts_with(end)) {
      advance(1 + end.size());
      skip_blanks();
      return true;
    }
    if (trims_line && here.starts_with('+') && here.substr(1).starts_with(end)) {
      advance(1 + end.size());
      return true;
    }
    if (!here.starts_with(end)) return false;
    advance(end.size());
    if (trims_line && rest().starts_with('\n')) advance(1);
    return true;
  }

  void skip_comment() {
    const std::size_t end = rest().find("#}");
    if (end == std::string_view::npos) fail("a comment without an end");
    const char sign = end == 0 ? ' ' : rest()[end - 1];
    advance(sign == '-' || sign == '+' ? end - 1 : end);
    skip_end("#}", true);
  }

  // Adds the body of {% raw %}...{% endraw %} as data. For any other block, returns false and skips nothing.
  bool add_raw() {
    const std::size_t start = at_;
    const int line = line_;
    if (skip_word("raw") && skip_end("%}", false)) {
      line_starts_ = source_[at_ - 1] == '\n';
      for (std::size_t begin = at_; (begin = source_.find("{%", begin)) != std::string::npos; begin += 2)
        if (ends_raw(begin)) return true;
      fail("a raw block without an end");
    }
    at_ = start;
    line_ = line;
    return false;
  }
  bool ends_raw(std::size_t begin) {
    const std::size_t start = at_;
    const int line = line_;
    advance(begin + 2 - at_);
    skip_sign();
    const bool ends = skip_word("endraw") && skip_end("%}", true);
    const std::size_t after = at_;
    const int line_after = line_;
    at_ = start;
    line_ = line;
    if (!ends) return false;
    add_data(begin, true);
    at_ = after;
    line_ = line_after;
    return true;
  }
  bool skip_word(std::string_view word) {
    skip_blanks();
    if (!rest().starts_with(word)) return false;
    advance(word.size());
    skip_blanks();
    return true;
  }

  // Adds the tokens of a block or an output up to its end.
  void add_tokens(const Delimiters& delimiters) {
    add(delimiters.begin_kind, "");
    std::string open;  // brackets not yet closed; inside them "}}" closes dictionaries
    while (true) {
      skip_blanks();
      if (rest().empty()) fail(fmt::format("a {} without {}", delimiters.begin, delimiters.end));
      if (open.empty() && skip_end(delimiters.end, delimiters.end_kind == Kind::block_end)) break;
      add_token(open);
    }
    add(delimiters.end_kind, "");
  }
  void add_token(std::string& open) {
    const char c = rest().front();
    if (begins_name(c)) {
      const auto is_part = [](char part) { return begins_name(part) || is_digit(part); };
      const auto end = std::find_if_not(rest().begin(), rest().end(), is_part);
      take(Kind::name, static_cast<std::size_t>(end - rest().begin()));
    } else if (is_digit(c)) {
      add_number();
    } else if (c == '"' || c == '\'') {
      add_string(c);
    } else {
      add_symbol(open);
    }
  }
  void take(Kind kind, std::size_t bytes) {
    add(kind, std::string(rest().substr(0, bytes)));
    advance(bytes);
  }

  std::size_t digits_end(std::size_t at) const {
    const std::string_view here = rest();
    while (at < here.size() &&
           (is_digit(here[at]) || (here[at] == '_' && at + 1 < here.size() && is_digit(here[at + 1]))))
      ++at;
    return at;
  }
  void add_number() {
    const std::string_view here = rest();
    const auto has_digit = [&](std::size_t at) { return at < here.size() && is_digit(here[at]); };
    std::size_t end = digits_end(0);
    bool real = false;
    const bool after_dot = !tokens_.empty() && tokens_.back().kind == Kind::symbol && tokens_.back().text == ".";
    if (!after_dot && end < here.size() && here[end] == '.' && has_digit(end + 1)) {
      real = true;
      end = digits_end(end + 1);
    }
    if (!after_dot && end < here.size() && (here[end] == 'e' || here[end] == 'E')) {
      const std::size_t exponent = end + 1 + (end + 1 < here.size() && (here[end + 1] == '-' || here[end + 1] == '+'));
      if (has_digit(exponent)) {
        real = true;
        end = digits_end(exponent);
      }
    }
    take(real ? Kind::real : Kind::integer, end);
    std::erase(tokens_.back().text, '_');
  }

  void add_symbol(std::string& open) {
    constexpr std::array<std::string_view, 27> kSymbols = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                           "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                           ">",  "<",  "=",  ".",  ":",  "|",  ",", ";", "!"};
    const auto symbol =
        std::find_if(kSymbols.begin(), kSymbols.end(), [this](std::string_view s) { return rest().starts_with(s); });
    if (symbol == kSymbols.end()) fail(fmt::format("unexpected '{}'", printable_line(rest().substr(0, 1))));
    constexpr std::string_view kOpening = "([{", kClosing = ")]}";
    if (const auto kind = kOpening.find(symbol->front()); kind != std::string_view::npos) open += kClosing[kind];
    if (kClosing.find(symbol->front()) != std::string_view::npos) {
      if (open.empty() || open.back() != symbol->front()) fail(fmt::format("'{}' closes nothing", *symbol));
      open.pop_back();
    }
    take(Kind::symbol, symbol->size());
  }

  void add_string(char quote) {
    std::size_t end = 1;
    while (end < rest().size() && rest()[end] != quote) end += rest()[end] == '\\' ? 2 : 1;
    if (end >= rest().size()) fail("a string without an end");
    add(Kind::string, unescaped(rest().substr(1, end - 1)));
    advance(end + 1);
  }
  // Resolves the escapes of a Python string. An unknown escape stays unchanged.
  std::string unescaped(std::string_view text) const {
    std::string result;
    while (!text.empty()) {
      const std::size_t plain = std::min(text.find('\\'), text.size());
      result += text.substr(0, plain);
      text.remove_prefix(plain);
      if (!text.empty()) text.remove_prefix(append_escape(text, result));
    }
    return result;
  }
  std::size_t append_escape(std::string_view text, std::string& result) const {
    constexpr std::string_view kLetters = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
    const char letter = text[1];
    if (letter == '\n') return 2;  // the string continues on the next line
    if (const auto at = kLetters.find(letter); at != std::string_view::npos) {
      result += kMeanings[at];
      return 2;
    }
    if (letter == 'x') return append_code_point(text, 2, 2, 16, result);
    if (letter == 'u') return append_code_point(text, 2, 4, 16, result);
    if (letter == 'U') return append_code_point(text, 2, 8, 16, result);
    if (letter >= '0' && letter <= '7') {
      const auto digits = text.substr(1, 3).find_first_not_of("01234567");
      return append_code_point(text, 1, std::min({digits, text.size() - 1, std::size_t{3}}), 8, result);
    }
    if (letter == 'N') fail("the string escape \\N{...} is not known. Write \\u and four digits");
    result += text.substr(0, 2);
    return 2;
  }
  std::size_t append_code_point(std::string_view text, std::size_t begin, std::size_t digits, int base,
                                std::string& result) const {
    const std::string number(text.substr(begin, digits));
    std::size_t used = 0;
    unsigned long code_point = 0x110000;
    if (number.size() == digits && number.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos)
      code_point = std::stoul(number, &used, base);
    if (code_point >= 0x110000 || (code_point >= 0xD800 && code_point < 0xE000))
      fail(fmt::format("the string escape {} is not a character", printable_line(text.substr(0, begin + digits))));
    append_character(result, static_cast<std::int32_t>(code_point));
    return begin + digits;
  }

  const std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starts_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace agon::agents::jinja
