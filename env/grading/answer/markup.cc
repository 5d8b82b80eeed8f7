#include "env/grading/answer/markup.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

using Texts = std::initializer_list<std::string_view>;
using Names = std::unordered_map<std::string_view, std::string_view>;

// Commands that typeset a sign or a word; "" for those that change only its looks.
const Names& symbols() {
  static const Names kSymbols = {{"left", ""},
                                 {"right", ""},
                                 {"big", ""},
                                 {"Big", ""},
                                 {"bigl", ""},
                                 {"bigr", ""},
                                 {"Bigl", ""},
                                 {"Bigr", ""},
                                 {"bigg", ""},
                                 {"Bigg", ""},
                                 {"displaystyle", ""},
                                 {"textstyle", ""},
                                 {"limits", ""},
                                 {"rm", ""},
                                 {"bf", ""},
                                 {"it", ""},
                                 {"tt", ""},
                                 {"sf", ""},
                                 {"large", ""},
                                 {"Large", ""},
                                 {"small", ""},
                                 {"normalsize", ""},
                                 {"quad", " "},
                                 {"qquad", " "},
                                 {"space", " "},
                                 {"enspace", " "},
                                 {"thinspace", " "},
                                 {"nobreakspace", " "},
                                 {"times", "\u00d7"},
                                 {"cdot", "\u00b7"},
                                 {"ast", "*"},
                                 {"div", "\u00f7"},
                                 {"pm", "\u00b1"},
                                 {"mp", "\u2213"},
                                 {"circ", "\u00b0"},
                                 {"degree", "\u00b0"},
                                 {"textdegree", "\u00b0"},
                                 {"percent", "%"},
                                 {"textdollar", "$"},
                                 {"euro", "\u20ac"},
                                 {"texteuro", "\u20ac"},
                                 {"pounds", "\u00a3"},
                                 {"yen", "\u00a5"},
                                 {"approx", "\u2248"},
                                 {"simeq", "\u2248"},
                                 {"sim", "~"},
                                 {"equiv", "="},
                                 {"neq", "\u2260"},
                                 {"ne", "\u2260"},
                                 {"le", "\u2264"},
                                 {"leq", "\u2264"},
                                 {"ge", "\u2265"},
                                 {"geq", "\u2265"},
                                 {"lt", "<"},
                                 {"gt", ">"},
                                 {"leqslant", "\u2264"},
                                 {"geqslant", "\u2265"},
                                 {"infty", "\u221e"},
                                 {"angle", "\u2220"},
                                 {"triangle", "\u25b3"},
                                 {"to", "\u2192"},
                                 {"rightarrow", "\u2192"},
                                 {"Rightarrow", "\u21d2"},
                                 {"implies", "\u21d2"},
                                 {"therefore", "\u2234"},
                                 {"ldots", "..."},
                                 {"dots", "..."},
                                 {"cdots", "..."},
                                 {"prime", "'"},
                                 {"colon", ":"},
                                 {"minus", "-"},
                                 {"lbrace", "{"},
                                 {"rbrace", "}"},
                                 {"textendash", "-"},
                                 {"alpha", "\u03b1"},
                                 {"beta", "\u03b2"},
                                 {"gamma", "\u03b3"},
                                 {"delta", "\u03b4"},
                                 {"epsilon", "\u03b5"},
                                 {"varepsilon", "\u03b5"},
                                 {"theta", "\u03b8"},
                                 {"lambda", "\u03bb"},
                                 {"mu", "\u03bc"},
                                 {"pi", "\u03c0"},
                                 {"rho", "\u03c1"},
                                 {"sigma", "\u03c3"},
                                 {"tau", "\u03c4"},
                                 {"phi", "\u03c6"},
                                 {"varphi", "\u03c6"},
                                 {"omega", "\u03c9"},
                                 {"Omega", "\u03a9"},
                                 {"Delta", "\u0394"},
                                 {"Sigma", "\u03a3"},
                                 {"Pi", "\u03a0"},
                                 {"eta", "\u03b7"},
                                 {"zeta", "\u03b6"},
                                 {"kappa", "\u03ba"},
                                 {"nu", "\u03bd"},
                                 {"xi", "\u03be"},
                                 {"chi", "\u03c7"},
                                 {"psi", "\u03c8"},
                                 {"Gamma", "\u0393"},
                                 {"Theta", "\u0398"},
                                 {"Lambda", "\u039b"},
                                 {"Phi", "\u03a6"},
                                 {"Psi", "\u03a8"},
                                 {"cap", "\u2229"},
                                 {"cup", "\u222a"},
                                 {"in", "\u2208"},
                                 {"notin", "\u2209"},
                                 {"subset", "\u2282"},
                                 {"subseteq", "\u2286"},
                                 {"emptyset", "\u2205"},
                                 {"varnothing", "\u2205"},
                                 {"mid", "|"},
                                 {"vert", "|"},
                                 {"parallel", "\u2225"},
                                 {"perp", "\u22a5"},
                                 {"cong", "\u2245"},
                                 {"propto", "\u221d"},
                                 {"int", "\u222b"},
                                 {"sum", "\u2211"},
                                 {"partial", "\u2202"},
                                 {"nabla", "\u2207"},
                                 {"uparrow", "\u2191"},
                                 {"downarrow", "\u2193"},
                                 {"leftarrow", "\u2190"},
                                 {"leftrightarrow", "\u2194"},
                                 {"longrightarrow", "\u2192"}};
  return kSymbols;
}

// Functions, which become words: \sin x is "sin x".
bool is_function(std::string_view name) {
  constexpr std::string_view kFunctions[] = {"sin", "cos", "tan",    "cot",    "sec",    "csc", "sinh", "cosh", "tanh",
                                             "log", "ln",  "exp",    "lim",    "max",    "min", "gcd",  "det",  "dim",
                                             "arg", "lg",  "arcsin", "arccos", "arctan", "deg", "sup",  "inf",  "mod"};
  return std::find(std::begin(kFunctions), std::end(kFunctions), name) != std::end(kFunctions);
}

// Commands that are replaced by their argument.
bool is_wrapper(std::string_view name) {
  constexpr std::string_view kWrappers[] = {
      "text",   "textbf", "textit",     "textrm", "textsf",       "texttt", "textnormal", "textup", "mathrm",
      "mathbf", "mathit", "mathsf",     "mathtt", "mathnormal",   "mathbb", "mathcal",    "bm",     "boldsymbol",
      "boxed",  "fbox",   "framebox",   "mbox",   "hbox",         "emph",   "underline",  "unit",   "operatorname",
      "bold",   "pmb",    "ensuremath", "color",  "operatorname", "si",     "SI",         "num",    "mathop"};
  return std::find(std::begin(kWrappers), std::end(kWrappers), name) != std::end(kWrappers);
}

bool is_fraction(std::string_view name) {
  return name == "frac" || name == "dfrac" || name == "tfrac" || name == "cfrac";
}

// Rewrites LaTeX and drops Markdown, left to right; braces are paired on a stack.
class MarkupReader {
 public:
  explicit MarkupReader(std::string_view text) : text_(text) {}

  std::string read() {
    out_.reserve(text_.size());
    while (at_ < text_.size()) step();
    drop_marks();
    return std::move(out_);
  }

 private:
  enum class Brace { kept, dropped, numerator, denominator, root };

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool at_line_start() const { return at_ == 0 || text_[at_ - 1] == '\n'; }
  void skip_blanks() {
    while (peek() == ' ') ++at_;
  }

  void step() {
    switch (text_[at_]) {
      case '\\':
        return command();
      case '{':
        return open();
      case '}':
        return close();
      case '$':
        return dollar();
      case '^':
        return raised();
      case '*':
      case '_':
      case '`':
      case '~':
        return emphasis();
      case '#':
        return heading();
      case '<':
        return tag();
      case '&':
        return entity();
      default:
        out_ += text_[at_++];
    }
  }

  void command() {
    const char next = peek(1);
    if (is_letter(next)) return named_command();
    at_ = std::min(at_ + 2, text_.size());
    if (next == '!') return;
    if (next == '\\')
      out_ += '\n';  // the end of a line
    else if (next && std::string_view("()[],;: \n").find(next) != std::string_view::npos)
      out_ += ' ';
    else if (next && std::string_view("%$#&_{}").find(next) != std::string_view::npos)
      out_ += next;
    else
      out_.append(1, '\\').append(next ? 1 : 0, next);
  }

  // \begin{align*}, \end{aligned}: environments that hold whole lines of a derivation.
  bool environment(std::string_view name, std::size_t end) {
    if ((name != "begin" && name != "end") || end >= text_.size() || text_[end] != '{') return false;
    const std::size_t close = text_.find('}', end);
    if (close == text_.npos || close - end > 24) return false;
    at_ = close + 1;
    out_ += '\n';
    in_environment_ = name == "begin";
    return true;
  }

  void named_command() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    if (environment(name, end)) return;
    if (const auto symbol = symbols().find(name); symbol != symbols().end()) {
      at_ = end;
      if ((name == "left" || name == "right") && peek() == '.') ++at_;
      out_ += symbol->second;
    } else if (is_function(name)) {
      at_ = end;
      if (!out_.empty() && is_word_byte(out_.back())) out_ += ' ';
      out_ += name;
      if (is_letter(peek()) || is_digit(peek()) || peek() == '\\') out_ += ' ';
    } else if (is_wrapper(name)) {
      at_ = end;
      if (peek() == '*') ++at_;
      const std::size_t behind = at_;
      skip_blanks();
      if (peek() == '{')
        push(Brace::dropped, "");
      else
        at_ = behind;
    } else if (is_fraction(name)) {
      at_ = end;
      fraction();
    } else if (name == "sqrt" && text_.substr(end).find_first_not_of(' ') != std::string_view::npos &&
               text_[text_.find_first_not_of(' ', end)] != '[') {
      at_ = end;
      out_ += "\u221a";
      argument(Brace::root);
    } else {
      out_ += text_.substr(at_, end - at_);
      at_ = end;
    }
  }

  void fraction() {
    if (!out_.empty() && is_digit(out_.back())) out_ += ' ';  // a mixed number
    argument(Brace::numerator);
  }

  // The argument of a command: a group, or one character.
  void argument(Brace kind) {
    skip_blanks();
    if (peek() == '{') return push(kind, "(");
    if (!is_digit(peek()) && !is_letter(peek())) return;
    out_ += text_[at_++];
    if (kind == Brace::numerator) {
      out_ += '/';
      argument(Brace::denominator);
    } else if (kind == Brace::denominator) {
      part_from_factor();
    }
  }

  void push(Brace kind, std::string_view written) {
    groups_.emplace_back(kind, out_.size());
    out_ += written;
    ++at_;
  }
  void open() {
    if (peek(1) == ',' && peek(2) == '}') return comma();
    push(Brace::kept, "{");
  }
  // "1{,}234" has thousands, "12{,}5" a decimal comma.
  void comma() {
    at_ += 3;
    std::size_t size = 0;
    while (is_digit(peek(size))) ++size;
    const bool decimals = !out_.empty() && is_digit(out_.back()) && size > 0 && size != 3;
    out_ += decimals && peek(size) != '{' ? '.' : ',';
  }
  void close() {
    ++at_;
    const auto [kind, begin] = groups_.empty() ? std::pair(Brace::kept, std::size_t{0}) : groups_.back();
    if (!groups_.empty()) groups_.pop_back();
    if (kind == Brace::kept) out_ += '}';
    if (kind == Brace::kept || kind == Brace::dropped) return;
    close_argument(begin);
    if (kind == Brace::numerator) {
      out_ += '/';
      argument(Brace::denominator);
    } else if (kind == Brace::denominator) {
      part_from_factor();
    }
  }
  // \frac{1}{2}\pi: a factor after the fraction is not part of its denominator.
  void part_from_factor() {
    std::string_view rest = text_.substr(at_);
    while (starts_with_any(rest, Texts{" ", "\\,", "\\;", "\\!"})) rest.remove_prefix(rest.front() == ' ' ? 1 : 2);
    if (starts_with_any(rest, Texts{"\\pi", "\\sqrt", "\u03c0", "\u221a"})) out_ += "\u00b7";
  }
  // "(12" becomes "12", "(a" becomes "a", "(a+b" becomes "(a+b)".
  void close_argument(std::size_t begin) {
    const std::string_view inside = std::string_view(out_).substr(begin + 1);
    const bool number =
        !inside.empty() && inside.size() < 64 && inside.find_first_not_of("0123456789.,") == inside.npos;
    if (number || (inside.size() == 1 && is_letter(inside[0])))
      out_.erase(begin, 1);
    else
      out_ += ')';
  }

  // A pair of $ typesets its content unless it means money: no blank inside at its ends, no digit after it.
  void dollar() {
    if (at_ == closing_dollar_) {
      ++at_;
      closing_dollar_ = std::string_view::npos;
      return;
    }
    if (peek(1) == '$') {
      at_ += 2;
      out_ += ' ';
      return;
    }
    if (next_dollar_ <= at_) next_dollar_ = text_.find('$', at_ + 1);
    const bool closes = next_dollar_ != text_.npos && !is_blank(peek(1)) && !is_blank(text_[next_dollar_ - 1]) &&
                        (next_dollar_ + 1 == text_.size() || !is_digit(text_[next_dollar_ + 1]));
    if (closes)
      closing_dollar_ = next_dollar_;
    else
      out_ += '$';
    ++at_;
  }

  void entity() {
    for (const auto& [name, sign] : {std::pair{"&lt;", '<'}, std::pair{"&gt;", '>'}, std::pair{"&amp;", '&'}})
      if (text_.substr(at_).starts_with(name)) {
        at_ += std::string_view(name).size();
        out_ += sign;
        return;
      }
    out_ += in_environment_ ? ' ' : '&';  // there it separates columns
    ++at_;
  }

  // "A^+", "Cl^{-}": a raised sign that ends a word stays without the ^.
  bool raised_sign() {
    for (const std::string_view sign : {"^+", "^-", "^{+}", "^{-}"}) {
      const std::size_t end = at_ + sign.size();
      if (!text_.substr(at_).starts_with(sign) || at_ == 0 || !is_word_byte(text_[at_ - 1])) continue;
      if (end < text_.size() &&
          (is_word_byte(text_[end]) || std::string_view("({\\.").find(text_[end]) != std::string_view::npos))
        continue;
      out_ += sign.find('+') == sign.npos ? '-' : '+';
      at_ = end;
      return true;
    }
    return false;
  }

  void raised() {
    if (raised_sign()) return;
    for (const std::string_view degree : {"^\\circ", "^{\\circ}", "^\u00b0", "^{\u00b0}", "^{ \\circ }", "^ \\circ"})
      if (text_.substr(at_).starts_with(degree)) {
        at_ += degree.size();
        out_ += "\u00b0";
        return;
      }
    out_ += text_[at_++];
  }

  // A run of marks that opens or closes emphasis. A pair of the same length is dropped at the end.
  void emphasis() {
    const char mark = text_[at_];
    const std::size_t begin = at_, end = std::min(text_.find_first_not_of(mark, begin), text_.size());
    const std::size_t length = end - begin;
    if (mark == '`' && length >= 3) return fence(end);
    const char before = begin > 0 ? text_[begin - 1] : ' ', after = end < text_.size() ? text_[end] : ' ';
    at_ = end;
    if (mark == '~' && length == 1 && is_word_byte(before) && is_word_byte(after)) {  // LaTeX's blank
      out_ += ' ';
      return;
    }
    const std::size_t place = out_.size();
    out_.append(length, mark);
    if (length > 3 || (mark == '~' && length != 2) || (is_digit(before) && is_digit(after))) return;
    const bool inside = (mark == '*' && length > 1) || mark == '`';
    const bool opens = !is_blank(after) && (inside || !is_word_byte(before));
    const bool closes = !is_blank(before) && (inside || !is_word_byte(after));
    std::optional<std::size_t>& opened = open_marks_[mark == '*'   ? 0
                                                     : mark == '_' ? 1
                                                     : mark == '`' ? 2
                                                                   : 3][length - 1];
    if (closes && opened) {
      if (mark == '~') {  // struck out
        marks_.emplace_back(*opened, place + length - *opened);
      } else {
        marks_.emplace_back(*opened, length);
        marks_.emplace_back(place, length);
      }
      opened.reset();
    } else if (opens) {
      opened = place;
    }
  }

  // Drops the line of a fence with its language; only the ticks if the fence begins and ends within a line.
  void fence(std::size_t end) {
    const bool at_start = at_line_start();
    at_ = end;
    const std::size_t line_end = std::min(text_.find('\n', end), text_.size());
    const bool word = text_.substr(end, line_end - end).find_first_of(" `") == std::string_view::npos;
    if (at_start && word && line_end < text_.size()) at_ = line_end;
  }

  void heading() {
    const std::size_t end = std::min(text_.find_first_not_of('#', at_), text_.size());
    const bool marks = at_line_start() && end < text_.size() && text_[end] == ' ' && end - at_ != 4 && end - at_ < 7;
    if (!marks) out_ += text_.substr(at_, end - at_);
    at_ = end;
  }

  void tag() {
    constexpr std::string_view kNames[] = {"b",   "i",    "em",   "strong", "u",   "br",  "p",
                                           "div", "span", "code", "center", "sub", "sup", "mark"};
    std::size_t begin = at_ + 1;
    const bool closing = begin < text_.size() && text_[begin] == '/';
    begin += closing;
    std::size_t end = begin;
    while (end < text_.size() && end - begin < 8 && is_letter(text_[end])) ++end;
    const std::string name = ascii_lower(text_.substr(begin, end - begin));
    const std::size_t close = end < text_.size() && (text_[end] == '>' || text_[end] == ' ' || text_[end] == '/')
                                  ? text_.substr(0, std::min(text_.size(), end + 100)).find('>', end)
                                  : std::string_view::npos;
    if (close == std::string_view::npos || std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) {
      out_ += text_[at_++];
      return;
    }
    if (name == "br" || name == "p" || name == "div") out_ += '\n';
    if (name == "sup" && !closing) out_ += '^';
    at_ = close + 1;
  }

  void drop_marks() {
    std::sort(marks_.begin(), marks_.end());
    std::string kept;
    std::size_t from = 0;
    for (const auto& [place, length] : marks_) {
      if (place < from) continue;  // moved when an argument's bracket was dropped: skip it
      kept.append(out_, from, place - from);
      from = place + length;
    }
    kept.append(out_, std::min(from, out_.size()));
    out_ = std::move(kept);
  }

  std::string_view text_;
  std::size_t at_ = 0, next_dollar_ = 0, closing_dollar_ = std::string_view::npos;
  bool in_environment_ = false;  // between \begin{} and \end{}
  std::string out_;
  std::vector<std::pair<Brace, std::size_t>> groups_;  // open braces, and where their content begins in out_
  std::array<std::array<std::optional<std::size_t>, 3>, 4> open_marks_;
  std::vector<std::pair<std::size_t, std::size_t>> marks_;  // places and lengths in out_
};

}  // namespace

std::string without_markup(std::string_view text) { return MarkupReader(text).read(); }

}  // namespace agon::env
