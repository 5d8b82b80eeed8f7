#include "env/grading/answer/letter_mentions.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "core/text.h"
#include "env/grading/answer/denied.h"
#include "env/grading/answer/named.h"
#include "env/grading/answer/option_letter.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

// Words that follow the letter A, but never the article "a".
constexpr std::string_view kBehindLetters[] = {
    "is",      "was",  "are",   "because", "since",  "as",      "and",   "or",         "but",         "would",
    "which",   "due",  "has",   "seems",   "fits",   "matches", "shows", "based",      "not",         "given",
    "it",      "the",  "looks", "appears", "if",     "from",    "while", "must",       "should",      "may",
    "might",   "can",  "could", "will",    "does",   "for",     "isn't", "represents", "corresponds", "makes",
    "instead", "here", "in",    "with",    "that",   "so",      "then",  "over",       "rather",      "et",
    "y",       "e",    "o",     "ou",      "und",    "oder",    "est",   "ist",        "es",          "non",
    "mais",    "pero", "mas",   "ma",      "car",    "porque",  "weil",  "denn",       "sino",        "sondern",
    "en",      "i",    "och",   "og",      "\u00e9", "\u00e8"};

// Right before a letter, these deny it.
constexpr std::string_view kDeniesLetter[] = {
    "non ",  " y no ", " no es ",       "n\u00e3o ",           "nicht ",
    "kein ", "pas ",   "\u043d\u0435 ", "\u0644\u064a\u0633 ", "\u0644\u064a\u0633\u062a "};

std::string_view word_ending_at(std::string_view text, std::size_t end) {
  while (end > 0 && std::string_view(" ([{\"':,*").find(text[end - 1]) != std::string_view::npos) --end;
  std::size_t begin = end;
  while (begin > 0 && end - begin < 20 && (is_word_byte(text[begin - 1]) || text[begin - 1] == '\'')) --begin;
  return text.substr(begin, end - begin);
}

// The same in other languages: words right after the letter, or right before it.
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

}  // namespace

LetterMentions::LetterMentions(std::string_view text, const Options& options)
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

std::vector<LetterMention> LetterMentions::find() const {
  std::vector<LetterMention> mentions;
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
  std::erase_if(mentions, [](const LetterMention& mention) { return mention.ruled_out; });
  return mentions;
}

bool LetterMentions::is_marked_right(const LetterMention& mention) const {
  return verdict(mention.at) == OptionVerdict::right;
}

bool LetterMentions::is_called_right(const LetterMention& mention) const {
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
  return is_among(word_from(rest, 0),
                  std::initializer_list<std::string_view>{"correct", "right", "best", "true", "answer", "appropriate",
                                                          "accurate", "closest", "one", "choice", "final", "valid"});
}

bool LetterMentions::is_chosen(const LetterMention& mention) const {
  std::size_t end = mention.at;
  if (ends_with_any(trim(text_.substr(0, end)), kChosenBehind)) return true;
  std::string_view word = word_ending_at(lower_, end);
  for (int i = 0; i < 2 && (is_among(word, kLetterLabels) || word == "the" || word == "be"); ++i) {
    end = static_cast<std::size_t>(word.data() - lower_.data());
    word = word_ending_at(lower_, end);
  }
  return is_among(
      word, std::initializer_list<std::string_view>{
                "choose", "chose", "choosing", "pick",     "picked", "select",     "selected",  "selecting", "with",
                "for",    "say",   "conclude", "guess",    "so",     "thus",       "therefore", "hence",     "is",
                "must",   "be",    "it's",     "probably", "likely", "definitely", "only",      "suggests",  "leaves"});
}

bool LetterMentions::is_called_fitting(const LetterMention& mention) const {
  const std::string_view rest = std::string_view(lower_).substr(mention.at + 1, 24);
  return starts_with_any(rest, std::initializer_list<std::string_view>{" fits", " matches", " does.", " does,",
                                                                       " works", " is better", " is more likely"});
}

bool LetterMentions::is_preferred(const LetterMention& mention) const {
  const std::string_view rest = std::string_view(lower_).substr(mention.at + 1, 24);
  if (rest.starts_with(" that ")) return false;  // "it is A that has a tower"
  if (is_called_right(mention) ||
      starts_with_any(rest, std::initializer_list<std::string_view>{" fits better", " matches better", " is better",
                                                                    " fits best", " matches best", " is more likely"}))
    return true;
  const std::string_view left = trim(std::string_view(lower_).substr(0, mention.at));
  if (left.ends_with(':') && behind(text_.substr(mention.at + 1), " .").empty()) return true;
  return ends_with_any(left, std::initializer_list<std::string_view>{"it's", "it is", "one is", "likely",
                                                                     "likely to be", "must be", "should be", "go with",
                                                                     "choose", "answer is", "option is", "choice is"});
}

OptionVerdict LetterMentions::verdict(std::size_t at) const {
  const OptionVerdict ticked = boxes_ ? verdict_before(text_.substr(0, at)) : OptionVerdict::none;
  if (ticked != OptionVerdict::none) return ticked;
  const auto place = place_of(text_[at], options_);
  const bool known = place && *place < texts_.size();
  return verdict_behind(text_.substr(at + 1), known ? std::string_view(texts_[*place]) : std::string_view(), words_);
}

// "A, C and D are wrong", "wrong: A, C": a denial of one letter in a row denies the others.
void LetterMentions::spread_denials(std::vector<LetterMention>& mentions) const {
  for (std::size_t i = mentions.size(); i-- > 1;)
    if (mentions[i].by_rest && joins(mentions[i - 1].at, mentions[i].at, false))
      mentions[i - 1].ruled_out = mentions[i - 1].by_rest = true;
  bool listed = false;
  for (std::size_t i = 0; i + 1 < mentions.size(); ++i) {
    const std::string_view left = trim(std::string_view(lower_).substr(0, mentions[i].at));
    const bool begins =
        ends_with_any(left, std::initializer_list<std::string_view>{
                                "wrong:", "incorrect:", "false:", "eliminate", "exclude", "rule out", "ruling out",
                                "cross out", "strike out", "discard", "dismiss", "reject", "avoid", "排除"});
    listed = begins || (listed && mentions[i].ruled_out);
    if (mentions[i].ruled_out && !mentions[i].by_rest && joins(mentions[i].at, mentions[i + 1].at, !listed))
      mentions[i + 1].ruled_out = true;
    else
      listed = false;
  }
}

bool LetterMentions::joins(std::size_t first, std::size_t second, bool by_or) const {
  if (second - first > 16) return false;
  const std::string_view between = behind(std::string_view(lower_).substr(first + 1, second - first - 1), ") ");
  const std::string_view link = trim(between.ends_with('(') ? between.substr(0, between.size() - 1) : between);
  if (link == "or" || link == "nor" || link == ", or") return true;
  return !by_or && is_among(link, std::initializer_list<std::string_view>{",", "and", ", and", "&", "/", "和", "与",
                                                                          "及", "y", "und", "et", "и", "e"});
}

// "Line B" names a line. If the options' texts are such names, it means the option of that name.
std::optional<std::size_t> LetterMentions::place_at(std::size_t at) const {
  const auto place = place_of(text_[at], options_);
  if (options_.empty() || of_values_ || !names_thing(at)) return place;
  if (!named_) return {};
  const auto name = static_cast<char>(text_[at] | 0x20);
  const auto option =
      std::find_if(texts_.begin(), texts_.end(), [&](const std::string& one) { return one.back() == name; });
  if (option == texts_.end()) return {};
  return static_cast<std::size_t>(option - texts_.begin());
}

bool LetterMentions::names_thing(std::size_t at) const {
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
bool LetterMentions::is_label(std::size_t at) const {
  const auto place = place_of(text_[at], options_);
  if (!place || *place >= texts_.size() || std::string_view(".):").find(after(at)) == std::string_view::npos)
    return false;
  return behind(std::string_view(lower_).substr(at + 2), " ").starts_with(ascii_lower(texts_[*place]));
}

bool LetterMentions::stands_alone(std::size_t at) const {
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

// Is the letter part of a formula: P(A), sin(A), (V)/(d), A \u2229 B?
bool LetterMentions::is_argument(std::size_t at) const {
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

bool LetterMentions::has_turkish_ending(std::size_t at) const {  // C'dir: it is C
  const std::string_view ending = word_from(lower_, at + 2);
  return is_among(ending, std::initializer_list<std::string_view>{"dir", "d\u0131r", "dur", "d\u00fcr", "tir"});
}

// A letter next to Chinese, Japanese or Korean text, which does not separate words, still stands alone.
bool LetterMentions::joins_left(std::size_t at) const {
  if (at == 0 || !is_word_byte(text_[at - 1])) return false;
  std::size_t begin = at - 1;
  while (begin > 0 && (static_cast<unsigned char>(text_[begin]) & 0xC0) == 0x80) --begin;
  return !is_east_asian(first_character(text_.substr(begin)).code_point);
}

bool LetterMentions::joins_right(std::size_t at) const {
  return is_word_byte(after(at)) && !is_east_asian(first_character(text_.substr(at + 1)).code_point);
}

// If the options are values, "angle A", "point D" and "50 A" name a thing or a unit.
bool LetterMentions::is_name_or_unit(std::size_t at) const {
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

bool LetterMentions::is_marked(std::size_t at) const {
  const char left = before(at), right = after(at);
  const bool brackets = (left == '(' && right == ')') || (left == '[' && right == ']') ||
                        (left == '"' && right == '"') || (left == '\'' && right == '\'');
  if (brackets) return true;
  const std::string_view word = word_ending_at(lower_, at);
  if (!is_among(word, kLetterLabels)) return false;
  // "the answer I gave", "answer a question"
  const bool may_be_a_word = lower_[at] == 'i' || (lower_[at] == 'a' && (word == "answer" || text_[at] == 'a'));
  const std::string_view next = right == ' ' ? word_from(lower_, at + 1) : std::string_view();
  if (lower_[at] == 'i') return next.empty() || next == "is" || next == "was" || next == "because";
  return (is_capital(text_[at]) && !may_be_a_word) || next.empty() || is_among(next, kBehindLetters);
}

bool LetterMentions::is_english_word(std::size_t at) const {
  if (text_[at] == 'I') return !is_called_right({0, at, false});
  if (text_[at] != 'A' || after(at) != ' ') return false;
  const std::string_view next = word_from(lower_, at + 1);
  const bool sign = !next.empty() && static_cast<unsigned char>(next[0]) >= 0xD0;  // "A \u274c", another script
  return !next.empty() && !sign && !is_among(next, kBehindLetters);
}

bool LetterMentions::is_ruled_out(std::size_t at) const {
  static constexpr std::string_view kBefore[] = {"not",     "neither",   "nor",       "isn't",   "than",   "except",
                                                 "unlike",  "excluding", "eliminate", "exclude", "reject", "wasn't",
                                                 "without", "discard",   "dismiss",   "avoid"};
  static constexpr std::string_view kWrong[] = {"not",        "wrong",    "incorrect",  "false",     "ruled",
                                                "eliminated", "invalid",  "impossible", "too",       "unlikely",
                                                "out",        "excluded", "rejected",   "discarded", "dismissed"};
  static constexpr std::string_view kVerbs[] = {"is",   "was", "are", "were",   "would", "can",   "could",
                                                "does", "do",  "has", "should", "must",  "seems", "looks"};
  if (verdict(at) == OptionVerdict::wrong) return true;
  if (ends_with_any(std::string_view(lower_).substr(0, at), kDeniesLetter)) return true;
  if (denies_next(text_.substr(0, at)) && !begins_clause(at)) return true;
  std::size_t end = at;
  std::string_view word = word_ending_at(lower_, end);
  for (int i = 0;
       i < 3 && (is_among(word, kLetterLabels) || word == "the" || word == "be" || word == "of" || word == "out");
       ++i) {
    if (word == "of" && word_ending_at(lower_, static_cast<std::size_t>(word.data() - lower_.data())) == "instead")
      return true;
    if (word == "out" && starts_with_any(word_ending_at(lower_, static_cast<std::size_t>(word.data() - lower_.data())),
                                         std::initializer_list<std::string_view>{"rul", "cross", "strik"}))
      return true;
    end = static_cast<std::size_t>(word.data() - lower_.data());
    word = word_ending_at(lower_, end);
  }
  if (is_among(word, kBefore)) return true;
  const std::size_t rest = std::min(lower_.find_first_not_of(")]}\"'*", at + 1), lower_.size());
  const std::string_view verb = word_from(lower_, rest);
  if (verb.ends_with("n't") || verb == "cannot" || verb == "fails" || verb == "contradicts") return true;
  if (verb == "would" && is_counterfactual(at)) return true;
  if (!is_among(verb, kVerbs)) return false;
  const auto behind_word = [&](std::string_view one) {
    return word_from(lower_, static_cast<std::size_t>(one.data() - lower_.data()) + one.size());
  };
  const std::string_view next = behind_word(verb);
  return is_among(next == "be" ? behind_word(next) : next, kWrong);
}

// "If the bar were tall, B would be correct.": the clause before the letter is contrary to fact.
bool LetterMentions::is_counterfactual(std::size_t at) const {
  constexpr std::size_t kLookBack = 200;
  const std::string_view left = last_bytes(std::string_view(lower_).substr(0, at), kLookBack);
  const std::size_t mark = left.find_last_of(".!?;:\n");
  const std::string_view sentence = behind(left.substr(mark == left.npos ? 0 : mark + 1), " ");
  return sentence.starts_with("if ") && sentence.find(" so ") == sentence.npos &&
         contains_any(sentence, std::initializer_list<std::string_view>{" were ", " had been "});
}

// "That's wrong: it's A": the text before the colon says nothing about A.
bool LetterMentions::begins_clause(std::size_t at) const {
  std::string_view left = trim(std::string_view(lower_).substr(0, at));
  for (const std::string_view word : {"it's", "it is", "it should be"})
    if (left.ends_with(word)) return trim(left.substr(0, left.size() - word.size())).ends_with(':');
  return false;
}

bool have_verdicts(const Options& options) {
  return std::none_of(options.begin(), options.end(),
                      [](const std::string& option) { return is_verdict_word(to_lower(bare(option))); });
}

}  // namespace agon::env
