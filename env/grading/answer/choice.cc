#include "env/grading/answer/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/text.h"
#include "env/grading/answer/concluded.h"
#include "env/grading/answer/denied.h"
#include "env/grading/answer/named.h"
#include "env/grading/answer/number.h"
#include "env/grading/answer/number_word.h"
#include "env/grading/answer/option_verdict.h"
#include "env/grading/answer/reason.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"

namespace agon::env {
namespace {

using Options = std::vector<std::string>;
using Places = std::set<std::size_t>;

constexpr std::size_t kLetters = 26;
constexpr std::string_view kMarks = "()[]{}\"'.,:;!<>* ";  // around a letter that stands alone

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

std::optional<std::size_t> only(const Places& places) {
  return places.size() == 1 ? std::optional(*places.begin()) : std::nullopt;
}

// Of options that are letters (P, Q, R, S): the one that is this letter.
std::optional<std::size_t> lettered_option(char letter, const Options& options) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i].size() != 1 || !is_letter(options[i][0])) return {};
    if ((options[i][0] | 0x20) == (letter | 0x20)) place = i;
  }
  return place;
}

// The place of a letter among the options, A, B, C, .., or of the option that is this letter.
std::optional<std::size_t> place_of(char letter, const Options& options) {
  if (!is_letter(letter)) return {};
  const auto place = static_cast<std::size_t>((letter | 0x20) - 'a');
  const std::size_t count = options.empty() ? kLetters : std::min(options.size(), kLetters);
  return place < count ? std::optional(place) : lettered_option(letter, options);
}

template <typename Same>
Places options_that(const Options& options, Same same) {
  Places places;
  for (std::size_t i = 0; i < options.size(); ++i)
    if (same(options[i])) places.insert(i);
  return places;
}

std::string bare(std::string_view text) {
  std::string plain = plain_text(text);
  std::replace(plain.begin(), plain.end(), '\n', ' ');
  return plain;
}

// Without a pair of quotes or brackets around the whole.
std::string_view unwrapped(std::string_view text) {
  constexpr std::string_view kOpen = "\"'([", kClose = "\"')]";
  for (int i = 0; i < 3 && text.size() > 2; ++i) {
    const std::size_t kind = kOpen.find(text.front());
    if (kind == kOpen.npos || text.back() != kClose[kind]) break;
    text = trim(text.substr(1, text.size() - 2));
  }
  return text;
}

// The text itself, without its last period, or without quotes around it: the first of these that is an option's.
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

// Without what only writers differ in: blanks beside marks, hyphens within words, case.
std::string spelled(std::string_view text) {
  const std::string lower = to_lower(bare(text));
  std::string form;
  const auto is_mark = [](char c) { return !is_word_byte(c) && c != ' '; };
  for (std::size_t at = 0; at < lower.size(); ++at) {
    const char left = at > 0 ? lower[at - 1] : ',', right = at + 1 < lower.size() ? lower[at + 1] : ',';
    if (lower[at] == ' ' && (is_mark(left) || is_mark(right))) continue;
    form += lower[at] == '-' && is_letter(left) && is_letter(right) ? ' ' : lower[at];
  }
  while (form.size() > 1 && form.ends_with('.')) form.pop_back();
  return form;
}

Places with_spelling(std::string_view text, const Options& options) {
  const std::string said = spelled(text);
  return options_that(options, [&](const std::string& option) { return !said.empty() && spelled(option) == said; });
}

// Options that are number words, by a number in digits.
Places with_number_word(std::string_view text, const Options& options) {
  const auto said = parse_plain_number(plain_text(text));
  if (!said) return {};
  return options_that(options, [&](const std::string& option) {
    const auto digits = number_words_in_digits(bare(option));
    const auto number = digits ? parse_plain_number(*digits) : std::nullopt;
    return number && equal_numbers(*said, *number);
  });
}

// --- Letters ---

// "B", "(b)", "B.": nothing but one letter and marks.
std::optional<std::size_t> lone_letter(std::string_view text, const Options& options) {
  const std::size_t at = text.find_first_not_of(kMarks);
  if (at == text.npos || text.find_first_not_of(kMarks, at + 1) != text.npos) return {};
  return place_of(text[at], options);
}

// Does what stands behind a letter name a second one: "B or C", "A, B"?
bool names_another(std::string_view rest, const Options& options) {
  rest = behind(rest, "([)]}\"'.:* ");
  bool joined = false;
  for (const std::string_view link : {"or ", "and ", "/", "& ", ", and ", ", or ", ",", "et ", "ou ", "y ", "o ", "e ",
                                      "und ", "oder ", "\u0438 ", "\u0438\u043b\u0438 ", "\u0648", "\u0623\u0648 "})
    if (!joined && ascii_lower(rest.substr(0, 8)).starts_with(link)) {
      rest.remove_prefix(link.size());
      joined = true;
    }
  for (const std::string_view word : {"maybe ", "perhaps ", "possibly ", "even "})
    if (ascii_lower(rest.substr(0, 9)).starts_with(word)) rest.remove_prefix(word.size());
  rest = behind(rest, "([{\"'* ");
  if (ascii_lower(rest.substr(0, 7)).starts_with("option ")) rest = behind(rest.substr(7), "([{\"'* ");
  const bool word = rest.size() > 2 && (rest[0] == 'A' || rest[0] == 'I') && rest[1] == ' ' && !is_capital(rest[2]);
  return joined && !word && !rest.empty() && place_of(rest[0], options) && (is_capital(rest[0]) || rest.size() < 3) &&
         (rest.size() == 1 || !is_word_byte(rest[1])) && !(rest.size() > 1 && rest[1] == '\'');
}

constexpr std::string_view kLabels[] = {"option", "choice", "answer", "letter", "alternative", "antwort", "cevap"};

// Words that follow the letter A, and never the article.
constexpr std::string_view kBehindLetters[] = {
    "is",      "was",  "are",   "because", "since",  "as",      "and",   "or",         "but",         "would",
    "which",   "due",  "has",   "seems",   "fits",   "matches", "shows", "based",      "not",         "given",
    "it",      "the",  "looks", "appears", "if",     "from",    "while", "must",       "should",      "may",
    "might",   "can",  "could", "will",    "does",   "for",     "isn't", "represents", "corresponds", "makes",
    "instead", "here", "in",    "with",    "that",   "so",      "then",  "over",       "rather",      "et",
    "y",       "e",    "o",     "ou",      "und",    "oder",    "est",   "ist",        "es",          "non",
    "mais",    "pero", "mas",   "ma",      "car",    "porque",  "weil",  "denn",       "sino",        "sondern",
    "en",      "i",    "och",   "og",      "\u00e9", "\u00e8"};

// Right before a letter: it is denied.
constexpr std::string_view kDeniesLetter[] = {
    "non ",  " y no ", " no es ",       "n\u00e3o ",           "nicht ",
    "kein ", "pas ",   "\u043d\u0435 ", "\u0644\u064a\u0633 ", "\u0644\u064a\u0633\u062a "};

std::string_view word_at(std::string_view text, std::size_t at) {
  const std::size_t begin = std::min(text.find_first_not_of(" ", at), text.size());
  std::size_t end = begin;
  while (end < text.size() && end - begin < 20 && (is_word_byte(text[end]) || text[end] == '\'')) ++end;
  return text.substr(begin, end - begin);
}

std::string_view word_ending_at(std::string_view text, std::size_t end) {
  while (end > 0 && std::string_view(" ([{\"':,*").find(text[end - 1]) != std::string_view::npos) --end;
  std::size_t begin = end;
  while (begin > 0 && end - begin < 20 && (is_word_byte(text[begin - 1]) || text[begin - 1] == '\'')) --begin;
  return text.substr(begin, end - begin);
}

// The same in other languages: what stands right behind the letter, or right before it.
constexpr std::string_view kCalledRight[] = {"\u9009\u9879\u6b63\u786e",
                                             "\u9009\u9879\u662f\u6b63\u786e",
                                             "\u6b63\u786e",
                                             "\u662f\u6b63\u786e",
                                             "\u662f\u5bf9\u7684",
                                             "\u7b26\u5408\u9898\u610f",
                                             "\u9009\u9879\u7b26\u5408\u9898\u610f",
                                             "\u304c\u6b63\u89e3",
                                             "\u304c\u6b63\u3057\u3044",
                                             "\uac00 \uc815\ub2f5",
                                             "\uc774 \uc815\ub2f5",
                                             "\uac00 \ub9de",
                                             "\uc774 \ub9de",
                                             "est la bonne r\u00e9ponse",
                                             "est correct",
                                             "est la r\u00e9ponse",
                                             "ist richtig",
                                             "richtig",
                                             "ist die richtige",
                                             "ist korrekt",
                                             "es correct",
                                             "es la correct",
                                             "es la respuesta",
                                             "es la opci\u00f3n correct",
                                             "\u00e9 a correta",
                                             "\u00e9 a alternativa correta",
                                             "est\u00e1 correta",
                                             "\u00e9 a resposta",
                                             "\u00e8 corrett",
                                             "\u00e8 la risposta",
                                             "\u0432\u0435\u0440\u043d"};
constexpr std::string_view kChosenBehind[] = {"\u9009",
                                              "\u9009\u62e9",
                                              "\u7b54\u6848]",
                                              "\u6b63\u786e\u9009\u9879\u4e3a",
                                              "\u6b63\u786e\u9009\u9879\u662f",
                                              "\u6b63\u786e\u7684\u9009\u9879\u4e3a",
                                              "\u6b63\u786e\u7684\u9009\u9879\u662f"};

// Are words such as "no" and "true" verdicts on options? Not where one of the options is such a word.
bool have_verdicts(const Options& options) {
  return std::none_of(options.begin(), options.end(),
                      [](const std::string& option) { return is_verdict_word(to_lower(bare(option))); });
}

struct Mention {
  std::size_t place, at;
  bool marked;             // in brackets or quotes, or behind "option"
  bool ruled_out = false;  // "not B", "B is wrong"
  bool by_rest = false;    // by what stands behind it
};

// Letters of options named in a text. `text`: plain; `lower`: the same in lower case.
class MentionFinder {
 public:
  MentionFinder(std::string_view text, const Options& options)
      : text_(text),
        lower_(ascii_lower(text)),
        options_(options),
        of_values_(!options.empty()),
        words_(have_verdicts(options)),
        boxes_(begins_with_box(text)) {
    for (const std::string& option : options) {
      graded_ = graded_ || (option.size() == 2 && is_letter(option[0]) && (option[1] == '+' || option[1] == '-'));
      of_values_ = of_values_ && option.find_first_of("0123456789") != option.npos;
      texts_.push_back(to_lower(bare(option)));
      named_ = named_ && !texts_.back().empty() && std::isalpha(static_cast<unsigned char>(texts_.back().back())) &&
               (texts_.back().size() == 1 || texts_.back()[texts_.back().size() - 2] == ' ');
    }
  }

  std::vector<Mention> find() const {
    std::vector<Mention> mentions;
    for (std::size_t at = 0; at < text_.size(); ++at) {
      if (!stands_alone(at)) continue;
      const auto place = place_at(at);
      if (!place) continue;
      const bool marked = is_marked(at);
      if (!marked && (!is_capital(text_[at]) || is_english_word(at))) continue;
      const bool by_rest = denies_last(text_.substr(at + 1));
      mentions.push_back({*place, at, marked, by_rest || is_ruled_out(at), by_rest});
    }
    spread_denials(mentions);
    std::erase_if(mentions, [](const Mention& mention) { return mention.ruled_out; });
    return mentions;
  }
  // "B: yes", "[x] B".
  bool is_marked_right(const Mention& mention) const { return verdict(mention.at) == Verdict::right; }
  bool is_called_right(const Mention& mention) const {
    const std::size_t from = lower_.find_first_not_of(")]}\"'*,", mention.at + 1);
    if (from == lower_.npos) return false;
    std::string_view rest = behind(std::string_view(lower_).substr(from, 60), " ");
    if (starts_with_any(rest, kCalledRight)) return true;
    bool verb = false;
    for (const std::string_view word : {"is ", "was ", "must be ", "would be ", "should be ", "seems ", "looks "})
      if (!verb && rest.starts_with(word)) {
        rest = behind(rest.substr(word.size()), " ");
        verb = true;
      }
    if (!verb) return false;
    for (const std::string_view word : {"therefore ", "thus ", "clearly ", "the ", "my ", "most ", "only ", "better "})
      if (rest.starts_with(word)) rest = behind(rest.substr(word.size()), " ");
    return is_among(word_at(rest, 0),
                    std::initializer_list<std::string_view>{"correct", "right", "best", "true", "answer", "appropriate",
                                                            "accurate", "closest", "one", "choice", "final", "valid"});
  }
  bool is_chosen(const Mention& mention) const {
    std::size_t end = mention.at;
    if (ends_with_any(trim(text_.substr(0, end)), kChosenBehind)) return true;
    std::string_view word = word_ending_at(lower_, end);
    for (int i = 0; i < 2 && (is_among(word, kLabels) || word == "the" || word == "be"); ++i) {
      end = static_cast<std::size_t>(word.data() - lower_.data());
      word = word_ending_at(lower_, end);
    }
    return is_among(word, std::initializer_list<std::string_view>{
                              "choose",    "chose",     "choosing",   "pick", "picked",   "select", "selected",
                              "selecting", "with",      "for",        "say",  "conclude", "guess",  "so",
                              "thus",      "therefore", "hence",      "is",   "must",     "be",     "it's",
                              "probably",  "likely",    "definitely", "only", "suggests", "leaves"});
  }
  // "B fits better", "C does.": said of one alone, it is the answer.
  bool is_called_fitting(const Mention& mention) const {
    const std::string_view rest = std::string_view(lower_).substr(mention.at + 1, 24);
    return starts_with_any(rest, std::initializer_list<std::string_view>{" fits", " matches", " does.", " does,",
                                                                         " works", " is better", " is more likely"});
  }
  // Behind a contrast: "but it's more likely to be A", "the correct one is A", "B fits better".
  bool is_preferred(const Mention& mention) const {
    const std::string_view rest = std::string_view(lower_).substr(mention.at + 1, 24);
    if (rest.starts_with(" that ")) return false;  // "it is A that has a tower"
    if (is_called_right(mention) || starts_with_any(rest, std::initializer_list<std::string_view>{
                                                              " fits better", " matches better", " is better",
                                                              " fits best", " matches best", " is more likely"}))
      return true;
    const std::string_view left = trim(std::string_view(lower_).substr(0, mention.at));
    if (left.ends_with(':') && behind(text_.substr(mention.at + 1), " .").empty()) return true;
    return ends_with_any(left, std::initializer_list<std::string_view>{
                                   "it's", "it is", "one is", "likely", "likely to be", "must be", "should be",
                                   "go with", "choose", "answer is", "option is", "choice is"});
  }

 private:
  char before(std::size_t at) const { return at > 0 ? text_[at - 1] : ' '; }
  char after(std::size_t at) const { return at + 1 < text_.size() ? text_[at + 1] : ' '; }

  Verdict verdict(std::size_t at) const {
    const Verdict ticked = boxes_ ? verdict_before(text_.substr(0, at)) : Verdict::none;
    if (ticked != Verdict::none) return ticked;
    const auto place = place_of(text_[at], options_);
    const bool known = place && *place < texts_.size();
    return verdict_behind(text_.substr(at + 1), known ? std::string_view(texts_[*place]) : std::string_view(), words_);
  }
  // "A, C and D are wrong", "wrong: A, C": what denies one of a row denies the others.
  void spread_denials(std::vector<Mention>& mentions) const {
    for (std::size_t i = mentions.size(); i-- > 1;)
      if (mentions[i].by_rest && joins(mentions[i - 1].at, mentions[i].at, false))
        mentions[i - 1].ruled_out = mentions[i - 1].by_rest = true;
    bool listed = false;
    for (std::size_t i = 0; i + 1 < mentions.size(); ++i) {
      const std::string_view left = trim(std::string_view(lower_).substr(0, mentions[i].at));
      const bool begins =
          ends_with_any(left, std::initializer_list<std::string_view>{"wrong:", "incorrect:", "false:", "eliminate",
                                                                      "exclude", "rule out", "ruling out", "排除"});
      listed = begins || (listed && mentions[i].ruled_out);
      if (mentions[i].ruled_out && !mentions[i].by_rest && joins(mentions[i].at, mentions[i + 1].at, !listed))
        mentions[i + 1].ruled_out = true;
      else
        listed = false;
    }
  }
  bool joins(std::size_t first, std::size_t second, bool by_or) const {
    if (second - first > 16) return false;
    const std::string_view between = behind(std::string_view(lower_).substr(first + 1, second - first - 1), ") ");
    const std::string_view link = trim(between.ends_with('(') ? between.substr(0, between.size() - 1) : between);
    if (link == "or" || link == "nor" || link == ", or") return true;
    return !by_or && is_among(link, std::initializer_list<std::string_view>{",", "and", ", and", "&", "/", "和", "与",
                                                                            "及", "y", "und", "et", "и", "e"});
  }
  // "Line B" names a line. Where the options' texts are such names, it is the option of that name.
  std::optional<std::size_t> place_at(std::size_t at) const {
    const auto place = place_of(text_[at], options_);
    if (options_.empty() || of_values_ || !names_thing(at)) return place;
    if (!named_) return {};
    const auto name = static_cast<char>(text_[at] | 0x20);
    const auto option =
        std::find_if(texts_.begin(), texts_.end(), [&](const std::string& one) { return one.back() == name; });
    if (option == texts_.end()) return {};
    return static_cast<std::size_t>(option - texts_.begin());
  }
  bool names_thing(std::size_t at) const {
    static constexpr std::string_view kThings[] = {
        "point",  "points", "line",      "lines",  "bar",     "bars",    "team",    "region",  "building", "side",
        "angle",  "vertex", "node",      "group",  "column",  "row",     "bin",     "curve",   "segment",  "vitamin",
        "box",    "ball",   "car",       "person", "country", "city",    "product", "class",   "type",     "plan",
        "player", "block",  "triangle",  "circle", "plane",   "area",    "zone",    "route",   "path",     "road",
        "train",  "tank",   "container", "plant",  "house",   "room",    "door",    "gate",    "store",    "company",
        "brand",  "school", "station",   "town",   "village", "machine", "sector",  "cluster", "edge",     "arc",
        "corner", "square", "hepatitis", "beaker", "cup",     "star",    "planet",  "phase",   "stage",    "layer"};
    if (is_label(at)) return false;
    std::size_t end = at;
    while (end > 0 && text_[end - 1] == ' ') --end;
    return text_.substr(0, end).ends_with("\u2220") || (end < at && is_among(word_ending_at(lower_, end), kThings));
  }
  // "A. square B. rectangle": the letter stands before its option's text.
  bool is_label(std::size_t at) const {
    const auto place = place_of(text_[at], options_);
    if (!place || *place >= texts_.size() || std::string_view(".):").find(after(at)) == std::string_view::npos)
      return false;
    return behind(std::string_view(lower_).substr(at + 2), " ").starts_with(ascii_lower(texts_[*place]));
  }
  bool stands_alone(std::size_t at) const {
    if (!is_letter(text_[at])) return false;
    const char left = before(at), right = after(at);
    if (joins_left(at) || joins_right(at) || is_name_or_unit(at) || is_argument(at) || (graded_ && right == '-'))
      return false;
    const bool quoted = (left == '\'' || left == '"') && right == left;
    if (!quoted && (left == '\'' || (right == '\'' && !has_turkish_ending(at)))) return false;
    if (right == '.' && at + 2 < text_.size() && is_letter(text_[at + 2])) return false;  // U.S.
    const char earlier = at > 1 ? text_[at - 2] : ' ';
    if (left == '.' && is_word_byte(earlier) && static_cast<unsigned char>(earlier) < 0x80) return false;
    return std::string_view("_-+#=/^\\").find(left) == std::string_view::npos &&
           std::string_view("_+#=^").find(right) == std::string_view::npos &&
           !(right == '-' && at + 2 < text_.size() && text_[at + 2] != ' ');
  }
  // P(A), sin(A), (V)/(d), A \u2229 B: of a formula.
  bool is_argument(std::size_t at) const {
    static constexpr std::string_view kOperators[] = {"\u2229", "\u222a", "\u2282", "\u2286", "\u00d7", "\u00b7", "+"};
    if (starts_with_any(behind(text_.substr(at + 1), " "), kOperators) ||
        ends_with_any(trim(text_.substr(0, at)), kOperators))
      return true;
    static constexpr std::string_view kFunctions[] = {"sin", "cos", "tan", "log", "ln", "exp", "max", "min"};
    if (before(at) != '(' || after(at) != ')') return false;
    const char left = at > 1 ? text_[at - 2] : ' ', right = at + 2 < text_.size() ? text_[at + 2] : ' ';
    if (left == '/' || right == '/') return true;
    std::size_t begin = at - 1;
    while (begin > 0 && is_letter(text_[begin - 1])) --begin;
    const std::string_view name = std::string_view(lower_).substr(begin, at - 1 - begin);
    return name.size() == 1 || is_among(name, kFunctions);
  }
  bool has_turkish_ending(std::size_t at) const {  // C'dir: it is C
    const std::string_view ending = word_at(lower_, at + 2);
    return is_among(ending, std::initializer_list<std::string_view>{"dir", "d\u0131r", "dur", "d\u00fcr", "tir"});
  }
  // A letter beside Chinese, Japanese or Korean, which part no words, still stands alone.
  bool joins_left(std::size_t at) const {
    if (at == 0 || !is_word_byte(text_[at - 1])) return false;
    std::size_t begin = at - 1;
    while (begin > 0 && is_within_character(text_[begin])) --begin;
    return !is_east_asian(first_character(text_.substr(begin)).code_point);
  }
  bool joins_right(std::size_t at) const {
    return is_word_byte(after(at)) && !is_east_asian(first_character(text_.substr(at + 1)).code_point);
  }
  // Where the options are values, "angle A", "point D" and "50 A" name a thing, or a unit.
  bool is_name_or_unit(std::size_t at) const {
    if (!of_values_) return false;
    static constexpr std::string_view kNamed[] = {"angle",    "angles", "point",   "points", "vertex",
                                                  "triangle", "side",   "segment", "line",   "circle",
                                                  "plane",    "set",    "matrix",  "figure"};
    std::size_t end = at;
    while (end > 0 && text_[end - 1] == ' ') --end;
    const std::string_view left = text_.substr(0, end);
    if (end < at && !left.empty() && left.back() >= '0' && left.back() <= '9') return true;
    return left.ends_with("\u2220") || left.ends_with("\u25b3") ||
           (end < at && is_among(word_ending_at(lower_, end), kNamed));
  }
  bool is_marked(std::size_t at) const {
    const char left = before(at), right = after(at);
    const bool brackets = (left == '(' && right == ')') || (left == '[' && right == ']') ||
                          (left == '"' && right == '"') || (left == '\'' && right == '\'');
    if (brackets) return true;
    const std::string_view word = word_ending_at(lower_, at);
    if (!is_among(word, kLabels)) return false;
    // "the answer I gave", "answer a question"
    const bool may_be_a_word = lower_[at] == 'i' || (lower_[at] == 'a' && (word == "answer" || text_[at] == 'a'));
    const std::string_view next = right == ' ' ? word_at(lower_, at + 1) : std::string_view();
    if (lower_[at] == 'i') return next.empty() || next == "is" || next == "was" || next == "because";
    return (is_capital(text_[at]) && !may_be_a_word) || next.empty() || is_among(next, kBehindLetters);
  }
  bool is_english_word(std::size_t at) const {
    if (text_[at] == 'I') return !is_called_right({0, at, false});
    if (text_[at] != 'A' || after(at) != ' ') return false;
    const std::string_view next = word_at(lower_, at + 1);
    const bool sign = !next.empty() && static_cast<unsigned char>(next[0]) >= 0xD0;  // "A \u274c", another script
    return !next.empty() && !sign && !is_among(next, kBehindLetters);
  }
  bool is_ruled_out(std::size_t at) const {
    static constexpr std::string_view kBefore[] = {"not",    "neither", "nor",       "isn't",     "than",
                                                   "except", "unlike",  "excluding", "eliminate", "exclude",
                                                   "reject", "wasn't",  "without"};
    static constexpr std::string_view kWrong[] = {"not",   "wrong",      "incorrect", "false",
                                                  "ruled", "eliminated", "invalid",   "impossible",
                                                  "too",   "unlikely",   "out",       "excluded"};
    static constexpr std::string_view kVerbs[] = {"is",   "was", "are", "were",   "would", "can",   "could",
                                                  "does", "do",  "has", "should", "must",  "seems", "looks"};
    if (verdict(at) == Verdict::wrong) return true;
    if (ends_with_any(std::string_view(lower_).substr(0, at), kDeniesLetter)) return true;
    if (denies_next(text_.substr(0, at)) && !begins_clause(at)) return true;
    std::size_t end = at;
    std::string_view word = word_ending_at(lower_, end);
    for (int i = 0;
         i < 3 && (is_among(word, kLabels) || word == "the" || word == "be" || word == "of" || word == "out"); ++i) {
      if (word == "of" && word_ending_at(lower_, static_cast<std::size_t>(word.data() - lower_.data())) == "instead")
        return true;
      if (word == "out" &&
          word_ending_at(lower_, static_cast<std::size_t>(word.data() - lower_.data())).starts_with("rul"))
        return true;
      end = static_cast<std::size_t>(word.data() - lower_.data());
      word = word_ending_at(lower_, end);
    }
    if (is_among(word, kBefore)) return true;
    const std::size_t rest = std::min(lower_.find_first_not_of(")]}\"'*", at + 1), lower_.size());
    const std::string_view verb = word_at(lower_, rest);
    if (verb.ends_with("n't") || verb == "cannot" || verb == "fails") return true;
    return is_among(verb, kVerbs) &&
           is_among(word_at(lower_, static_cast<std::size_t>(verb.data() - lower_.data()) + verb.size()), kWrong);
  }

  // "That's wrong: it's A": what stands before the colon says nothing of A.
  bool begins_clause(std::size_t at) const {
    std::string_view left = trim(std::string_view(lower_).substr(0, at));
    for (const std::string_view word : {"it's", "it is", "it should be"})
      if (left.ends_with(word)) return trim(left.substr(0, left.size() - word.size())).ends_with(':');
    return false;
  }

  std::string_view text_;
  std::string lower_;
  const Options& options_;
  bool of_values_;                  // every option holds a digit
  bool words_;                      // words such as "no" are verdicts on options
  bool graded_ = false;             // an option is a letter with a sign: A+
  bool boxes_;                      // a box that may be ticked stands before each letter
  bool named_ = true;               // all options' texts end with a letter: "Point B"
  std::vector<std::string> texts_;  // in lower case
};

// Is the option whose letter stands before called wrong: "B. cat: incorrect", "B \u274c"?
bool is_called_wrong(std::string_view rest, std::size_t place, const Options& options) {
  const std::string text = place < options.size() ? to_lower(bare(options[place])) : "";
  return denies_last(rest) || verdict_behind(rest, text, have_verdicts(options)) == Verdict::wrong;
}

// "B) cat", "(B) cat", "B. cat", "B - cat", "option B", "option B, the cat".
std::optional<std::size_t> label_at_start(std::string_view text, const Options& options) {
  const std::string lower = ascii_lower(text.substr(0, 40));
  std::size_t at = 0;
  bool labelled = false;
  for (int i = 0; i < 3; ++i) {
    at = std::min(lower.find_first_not_of(" ([{\"'*:", at), lower.size());
    const std::string_view word = word_at(lower, at);
    const bool label = is_among(word, kLabels);
    if (!label && word != "the" && word != "correct") break;
    labelled = labelled || label;
    at += word.size();
  }
  if (at >= text.size() || (at + 1 < text.size() && is_word_byte(text[at + 1]))) return {};
  const auto place = place_of(text[at], options);
  if (!place) return {};
  const std::string_view rest = text.substr(at + 1);
  if (names_another(rest, options) || is_called_wrong(rest, *place, options)) return {};
  const bool opened = at > 0 && (text[at - 1] == '(' || text[at - 1] == '[');
  if (labelled || opened) {
    const bool marked = rest.empty() || std::string_view(" )].,:;\"'-\n").find(rest[0]) != std::string_view::npos;
    const std::vector<Mention> mentions = MentionFinder(text.substr(0, at + 40), options).find();
    const bool stands = std::any_of(mentions.begin(), mentions.end(), [&](const Mention& one) { return one.at == at; });
    return marked && stands ? place : std::nullopt;
  }
  if (rest.size() > 1 && (rest[0] == ')' || rest[0] == ']' || rest[0] == ':' || rest[0] == '.') &&
      (rest[1] == ' ' || rest[1] == '\n'))
    return place;
  if (rest.starts_with(" - ") || (rest.starts_with("\n") && is_capital(text[at]))) return place;
  const bool joined = rest.size() > 1 && std::string_view(").:]").find(rest[0]) != std::string_view::npos;
  const Places same = joined ? with_words(rest.substr(1), options) : Places();
  return same.count(*place) ? place : std::nullopt;
}

// --- Readings ---

// Does a text name an option besides this one?
bool names_besides(std::string_view text, std::size_t place, const Options& options) {
  const std::vector<Mention> mentions = MentionFinder(text, options).find();
  return std::any_of(mentions.begin(), mentions.end(), [&](const Mention& one) { return one.place != place; });
}

std::optional<std::size_t> whole_choice(std::string_view text, const Options& options) {
  if (const Places places = with_exact_text(text, options); !places.empty()) return only(places);
  if (const auto place = lone_letter(text, options)) return place;
  if (const auto place = label_at_start(text, options); place && !names_besides(text, *place, options)) return place;
  if (const Places places = with_text_in_any_case(text, options); !places.empty()) return only(places);
  if (const auto place = only(with_number(text, options))) return place;
  if (const auto place = only(with_words(text, options))) return place;
  if (const auto place = only(with_text_in_any_case(without_copula(text), options))) return place;
  if (const auto place = only(with_spelling(text, options))) return place;
  return only(with_number_word(text, options));
}

// "1. A red car", then "2. A van": a list, whose first line is no "1".
bool numbers_lines(std::string_view text) { return text.starts_with("1. ") && text.find("\n2. ") != text.npos; }

// "E decreases.\n\nB", "E decreases. B": a capital letter alone that ends the text.
std::optional<std::size_t> closing_letter(std::string_view text, const Options& options) {
  if (text.ends_with('.')) text.remove_suffix(1);
  const std::size_t line = text.rfind('\n'), sentence = text.rfind(". ");
  if (line == text.npos && sentence == text.npos) return {};
  const std::size_t begin = std::max(line == text.npos ? 0 : line + 1, sentence == text.npos ? 0 : sentence + 2);
  const std::string_view last = behind(text.substr(begin), kMarks);
  if (begin < 8) return {};  // "D. A"
  return !last.empty() && is_capital(last[0]) ? lone_letter(last, options) : std::nullopt;
}

// "B. London", with more lines behind it: its answer first, unless the lines list the options from there on.
std::optional<std::size_t> first_line_choice(std::string_view text, const Options& options) {
  std::size_t end = text.find('\n');
  if (end == text.npos || numbers_lines(text)) return {};
  const auto first = whole_choice(text.substr(0, end), options);
  while (end != text.npos) {
    const std::size_t begin = end + 1;
    end = text.find('\n', begin);
    const std::string_view line = behind(text.substr(begin, end == text.npos ? end : end - begin), "-* ");
    const auto next = label_at_start(line, options);
    if (next) return first && *next != *first + 1 ? first : std::nullopt;
  }
  return first;
}

std::optional<std::size_t> only_mention(const std::vector<Mention>& mentions) {
  Places marked, all;
  for (const Mention& mention : mentions) {
    all.insert(mention.place);
    if (mention.marked) marked.insert(mention.place);
  }
  return only(marked.empty() ? all : marked);
}

// The only option that the text names by its words. Of two, the one that is left where the other is denied.
std::optional<std::size_t> held_option(std::string_view text, const Options& options) {
  const auto [named, denied] = named_options(text, options);
  if (named.empty() && denied.size() == 1 && options.size() == 2) return 1 - *denied.begin();
  if (const auto place = only(named)) return place;
  const auto last = only(with_words(text.substr(std::min(text.rfind(": "), text.size())), options));
  if (!last || named.count(*last) == 0) return {};
  const std::string longest = words_of(options[*last]);  // "rather dark: dark red"
  return std::all_of(named.begin(), named.end(),
                     [&](std::size_t one) { return longest.find(words_of(options[one])) != longest.npos; })
             ? last
             : std::nullopt;
}

// Behind "it's", "the statement is" and the like.
std::string_view behind_introduction(std::string_view lower) {
  for (const std::string_view words :
       {"it's ", "it is ", "this is ", "that's ", "that is ", "the statement is ", "the claim is ", "the answer is "})
    if (lower.starts_with(words)) return lower.substr(words.size());
  return lower;
}

bool ends_part(std::string_view rest) {
  if (rest.empty() || std::string_view(",;:!([\n").find(rest[0]) != std::string_view::npos) return true;
  if (rest[0] == '.') return rest.size() == 1 || rest[1] == ' ' || rest[1] == '\n';
  for (const std::string_view mark : {" (", " [", " - ", " \u2014", "\u2014"})
    if (rest.starts_with(mark)) return true;
  return false;
}

// "Yes, line B crosses.", "Red (see region D)": an option's text, then a mark. No other option is named but beside yes,
// no, true and false.
std::optional<std::size_t> leading_option(std::string_view text, const Options& options) {
  std::size_t longest = 0;
  for (const std::string& option : options) longest = std::max(longest, option.size());
  const std::string lower = to_lower(text.substr(0, longest + 40));
  const std::string_view said = behind_introduction(lower);
  const Places places = options_that(options, [&](const std::string& option) {
    const std::string wanted = to_lower(bare(option));
    return wanted.size() > 1 && said.starts_with(wanted) && ends_part(said.substr(wanted.size()));
  });
  const auto place = only(places);
  if (!place) return {};
  const std::string wanted = to_lower(bare(options[*place]));
  if (is_verdict_word(wanted)) {
    const std::string_view next = behind(said.substr(wanted.size()), " ,;:.!");
    return options_that(options, [&](const std::string& other) { return next.starts_with(to_lower(bare(other))); })
                   .empty()
               ? place
               : std::nullopt;
  }
  const auto [named, denied] = named_options(text, options);
  return std::all_of(named.begin(), named.end(), [&](std::size_t one) { return one == *place; }) ? place : std::nullopt;
}

// A capital letter that the value of a phrase begins with.
std::optional<std::size_t> first_letter(std::string_view value, const Options& options) {
  value = behind(value, "([{\"'* ");
  const std::vector<Mention> mentions = MentionFinder(value.substr(0, 60), options).find();
  if (mentions.empty() || mentions.front().at != 0 || names_another(value.substr(1), options)) return {};
  return mentions.front().place;
}

// "A is tempting, but B is right": the only one that a text calls right.
std::optional<std::size_t> called_right(std::string_view text, const Options& options) {
  const MentionFinder finder(text, options);
  Places right;
  for (const Mention& mention : finder.find())
    if (finder.is_called_right(mention)) right.insert(mention.place);
  return only(right);
}

// The option that is the number which a text means.
std::optional<std::size_t> numbered_option(std::string_view text, const Options& options) {
  const auto said = read_number(text);
  const auto place = said ? only(with_value(*said, options)) : std::nullopt;
  return place && named_options(text, options).denied.count(*place) > 0 ? std::nullopt : place;
}

std::optional<std::size_t> phrase_choice(const Phrase& phrase, const Options& options) {
  if (const auto place = whole_choice(phrase.sentence, options)) return place;
  if (const auto place = whole_choice(phrase.value, options)) return place;
  if (const auto place = leading_option(phrase.sentence, options)) return place;
  const std::vector<Mention> mentions = MentionFinder(phrase.sentence, options).find();
  if (!mentions.empty() && names_another(std::string_view(phrase.sentence).substr(mentions.front().at + 1), options))
    return {};
  if (const auto place = called_right(phrase.sentence, options)) return place;
  if (const auto place = first_letter(phrase.sentence, options)) return place;
  if (const auto place = whole_choice(phrase.sentence.substr(0, phrase.sentence.find(", ")), options)) return place;
  if (!mentions.empty()) return only_mention(mentions);
  const auto number = numbered_option(phrase.sentence, options);
  return number ? number : held_option(phrase.sentence, options);
}

// "Nein, das stimmt nicht." beside the options Yes and No.
std::optional<std::size_t> foreign_verdict_choice(std::string_view text, std::string_view word,
                                                  const Options& options) {
  constexpr std::string_view kYes[] = {"ja",
                                       "oui",
                                       "s\u00ed",
                                       "s\u00ec",
                                       "sim",
                                       "\u0434\u0430",
                                       "\u306f\u3044",
                                       "\u662f",
                                       "\u662f\u7684",
                                       "\u5bf9",
                                       "\uc608",
                                       "\ub124",
                                       "evet",
                                       "tak",
                                       "c\u00f3",
                                       "ya",
                                       "\u0646\u0639\u0645",
                                       "\u0939\u093e\u0901",
                                       "yeah",
                                       "yep",
                                       "yup"};
  constexpr std::string_view kNo[] = {"nein",
                                      "non",
                                      "n\u00e3o",
                                      "\u043d\u0435\u0442",
                                      "\u3044\u3044\u3048",
                                      "\u5426",
                                      "\u4e0d\u662f",
                                      "\u4e0d",
                                      "\u6ca1\u6709",
                                      "\uc544\ub2c8\uc694",
                                      "\uc544\ub2c8\uc624",
                                      "hay\u0131r",
                                      "nie",
                                      "nee",
                                      "nej",
                                      "kh\u00f4ng",
                                      "tidak",
                                      "\u0644\u0627",
                                      "\u0928\u0939\u0940\u0902",
                                      "nope",
                                      "nah"};
  const std::string said = to_lower(word);
  const std::string_view rest = behind(text.substr(word.size()), " ,.;:!");
  const std::string next = to_lower(word_at(rest, 0));
  if (is_among(next, kYes) || is_among(next, kNo) || next == "yes" || next == "no") return {};
  if (is_among(said, kYes)) return only(with_text_in_any_case("yes", options));
  return is_among(said, kNo) ? only(with_text_in_any_case("no", options)) : std::nullopt;
}

// "Yes, it is. No other answer is possible." says yes.
std::optional<std::size_t> leading_verdict_choice(std::string_view text, const Options& options) {
  std::string_view word = text.substr(0, text.find_first_of(",.;:!\n"));
  word = without_copula(word.substr(0, word.find("\u3001")));
  for (const std::string_view verdict :
       {"yes", "no", "true", "false", "\u662f", "\u5426", "\u5bf9", "\u9519", "\u4e0d\u662f", "\u306f\u3044",
        "\u3044\u3044\u3048", "\uc608", "\ub124", "\uc544\ub2c8\uc694", "\uc544\ub2c8\uc624"})
    if (ascii_lower(word) == verdict)
      if (const auto place = only(with_text_in_any_case(word, options))) return place;
  return foreign_verdict_choice(text, word, options);
}

// What a correction puts in the place of all before it: its phrase, or a short sentence that is an option.
std::optional<std::size_t> corrected_choice(std::string_view text, const Options& options) {
  for (const std::string_view correction : corrections_in(text)) {
    for (const Phrase& phrase : answer_phrases(correction))
      if (const auto place = phrase_choice(phrase, options)) return place;
    const auto place = whole_choice(corrected_sentence(correction), options);
    if (place && !names_besides(correction, *place, options)) return place;
    if (const auto verdict = leading_verdict_choice(correction, options)) return verdict;
  }
  return {};
}

// A text that says of each option whether it is right: the only one that is. False where several are.
bool is_marked_choice(std::string_view text, const Options& options, std::optional<std::size_t>& choice) {
  const MentionFinder finder(text, options);
  Places right;
  for (const Mention& mention : finder.find())
    if (finder.is_marked_right(mention)) right.insert(mention.place);
  choice = only(right);
  return right.size() < 2;
}

// A text that lists the options' texts and marks each: the only one that is right. False where it says no or several.
bool is_listed_choice(std::string_view text, const Options& options, std::optional<std::size_t>& choice) {
  Options texts;
  for (const std::string& option : options) texts.push_back(to_lower(bare(option)));
  const auto [right, wrong] = listed_verdicts(text, texts, have_verdicts(options));
  if (right.size() == 1) choice = right.front();
  return right.empty() ? wrong.size() < 2 : right.size() == 1;
}

// The option that is stated behind "but", "however" or what would be the answer, in place of one that stands before:
// "The answer could be C, but it's more likely to be A".
std::optional<std::size_t> contrasted_choice(std::string_view text, const Options& options) {
  constexpr std::size_t kReach = 300;
  const std::size_t begin = text.size() - std::min(text.size(), kReach);
  const std::string lower = ascii_lower(text.substr(begin));
  std::size_t at = lower.npos;
  for (const std::string_view mark :
       {" but ", "however", "that's wrong", "that is wrong", "that was wrong", " yet ", " would be "})
    if (const std::size_t found = lower.rfind(mark); found != lower.npos && (at == lower.npos || found > at))
      at = found;
  if (at == lower.npos || text.substr(0, begin + at).empty()) return {};
  const std::string_view behind = text.substr(begin + at);
  if (!answer_phrases(behind).empty() ||
      contains_any(lower.substr(at), std::initializer_list<std::string_view>{" if "}))
    return {};
  const MentionFinder finder(behind, options);
  Places preferred, mentioned;
  for (const Mention& mention : finder.find()) {
    mentioned.insert(mention.place);
    if (finder.is_preferred(mention)) preferred.insert(mention.place);
  }
  if (!preferred.empty() || !mentioned.empty()) return only(preferred);
  return concluded_by_text(behind, options);
}

std::optional<std::size_t> stated_choice(std::string_view text, const Options& options) {
  const MentionFinder finder(text, options);
  const std::vector<Mention> mentions = finder.find();
  for (const auto states : {&MentionFinder::is_called_right, &MentionFinder::is_chosen})
    for (auto mention = mentions.rbegin(); mention != mentions.rend(); ++mention)
      if ((finder.*states)(*mention)) {
        if (names_another(text.substr(mention->at + 1), options)) return {};
        return mention->place;
      }
  Places fitting;
  for (const Mention& mention : mentions)
    if (finder.is_called_fitting(mention)) fitting.insert(mention.place);
  if (const auto place = only(fitting)) return place;
  if (const auto place = closing_letter(text, options)) return place;
  if (const auto place = first_line_choice(text, options)) return place;
  const auto place = mentions.empty() ? std::nullopt : only_mention(mentions);
  const bool several = std::any_of(mentions.begin(), mentions.end(), [&](const Mention& one) {
    return one.place == place && names_another(text.substr(one.at + 1), options);  // "Answer: B or C"
  });
  return several ? std::nullopt : place;
}

// "None", "none of these": the option "None of the above".
std::optional<std::size_t> none_of_all(std::string_view text, const Options& options) {
  constexpr std::string_view kNone[] = {"none",
                                        "none of above",
                                        "none of these",
                                        "none of them",
                                        "none of options",
                                        "none of choices",
                                        "none of options is right",
                                        "none of options is correct",
                                        "none of options are correct"};
  if (text.size() > 60 || !is_among(words_of(text), kNone)) return {};
  return only(options_that(options, [&](const std::string& option) { return is_among(words_of(option), kNone); }));
}

// Without an arrow or a hand that points to what follows.
std::string_view without_pointer(std::string_view line) {
  for (const std::string_view sign : {"\u27a1\ufe0f", "\u27a1", "\u2192", "\U0001f449", "=>", "->", "\u21d2"})
    if (line.starts_with(sign)) return trim(line.substr(sign.size()));
  return line;
}

// Behind lines that list the options, a last line that says which it is: "It is a dog."
std::optional<std::size_t> concluded_option(std::string_view line, const Options& options) {
  const std::string word = ascii_lower(word_at(line, 0));
  const bool concludes = is_among(word, std::initializer_list<std::string_view>{"it", "it's", "so", "thus", "therefore",
                                                                                "hence", "this", "that's", "clearly"});
  return concludes ? held_option(line, options) : std::nullopt;
}

}  // namespace

std::vector<std::string> without_labels(std::vector<std::string> options) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < options.size() && i < kLetters; ++i) {
    const char letter = static_cast<char>('A' + static_cast<char>(i));
    for (const std::string& label : {std::string{'(', letter, ')'}, std::string{letter, ')'},
                                     std::string{letter, '.', ' '}, std::string{letter, ':'}})
      if (texts.size() == i && options[i].starts_with(label) && !trim(options[i].substr(label.size())).empty())
        texts.emplace_back(trim(std::string_view(options[i]).substr(label.size())));
    if (texts.size() == i) return options;
  }
  return texts.size() == options.size() ? texts : options;
}

std::vector<std::size_t> options_of_gold(std::string_view gold, const Options& options) {
  Places places = with_exact_text(gold, options);
  if (const auto letter = lone_letter(trim(gold), options)) places.insert(*letter);
  if (places.empty())
    if (const auto label = label_at_start(plain_text(gold), options)) places.insert(*label);
  for (const auto find : {with_text_in_any_case, with_words})
    if (places.empty()) places = find(gold, options);
  return {places.begin(), places.end()};
}

std::optional<std::size_t> read_choice(std::string_view plain, const Options& options) {
  if (plain.empty()) return {};
  if (const auto place = whole_choice(plain, options)) return place;
  if (!with_exact_text(plain, options).empty()) return {};  // two options of that text
  if (const auto place = corrected_choice(plain, options)) return place;
  if (const auto place = contrasted_choice(plain, options)) return place;
  for (const Phrase& phrase : answer_phrases(plain))
    if (const auto place = phrase_choice(phrase, options)) return place;
  if (const auto place = leading_option(plain, options)) return place;
  std::optional<std::size_t> marked;
  if (!is_marked_choice(plain, options, marked) || marked) return marked;
  if (!is_listed_choice(plain, options, marked) || marked) return marked;
  if (const auto place = stated_choice(plain, options)) return place;
  const std::string_view line = last_line(plain);
  if (line.size() < plain.size())
    if (const auto place = whole_choice(without_pointer(line), options)) return place;
  if (const auto place = leading_verdict_choice(plain, options)) return place;
  if (const auto number = numbered_option(plain, options)) return number;
  if (const auto held = held_option(plain, options)) return held;
  if (const auto none = none_of_all(plain, options)) return none;
  if (line.size() < plain.size())
    if (const auto place = concluded_option(line, options)) return place;
  if (const auto place = concluded_by_text(plain, options)) return place;
  if (const auto place = stated_first(plain, options)) return place;
  return only_predicate(plain, options);
}

}  // namespace agon::env
