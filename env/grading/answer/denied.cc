#include "env/grading/answer/denied.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"

namespace agon::env {
namespace {

constexpr std::size_t kWindow = 56;  // bytes read before or after an answer

std::string lower_end(std::string_view text) { return to_lower(last_bytes(text, kWindow)); }
std::string lower_start(std::string_view text) { return to_lower(cut_text(text, kWindow)); }

// --- Denials ---

constexpr std::string_view kDeniers[] = {"not",
                                         "n't",
                                         "cannot",
                                         "neither",
                                         "nor",
                                         "anything but",
                                         "everything but",
                                         "all but",
                                         "except",
                                         "excluding",
                                         "doubt",
                                         "unless",
                                         "whether",
                                         "tell if",
                                         "say if",
                                         "know if",
                                         "sure if",
                                         "rather than",
                                         "instead of",
                                         "wrong answer",
                                         "incorrect answer",
                                         "false answer",
                                         "wrong option",
                                         "incorrect option",
                                         "false option",
                                         "wrong choice",
                                         "incorrect choice",
                                         "false choice",
                                         "wrong one",
                                         "incorrect one",
                                         "least likely",
                                         "least likely answer",
                                         "least likely option",
                                         "least likely choice",
                                         "least likely one",
                                         "distractor",
                                         "red herring",
                                         "decoy",
                                         "wrong to choose",
                                         "wrong to pick",
                                         "wrong to select",
                                         "wrong to say",
                                         "wrong to call",
                                         "mistake to choose",
                                         "mistake to pick",
                                         "impossible that",
                                         "incorrect:",
                                         "wrong:",
                                         "false:",
                                         "eliminated:",
                                         "nicht",
                                         "kein",
                                         "keine",
                                         "keinen",
                                         "statt",
                                         "pas",
                                         "no es",
                                         "no son",
                                         "no era",
                                         "não é",
                                         "não são",
                                         "non è",
                                         "non sono",
                                         "не",
                                         "ни",
                                         "không phải",
                                         "không phải là",
                                         "bukan",
                                         "niet",
                                         "geen",
                                         "nie",
                                         "inte",
                                         "ikke",
                                         "ليس",
                                         "ليست",
                                         "δεν είναι",
                                         "不是",
                                         "不会是",
                                         "不可能是",
                                         "并非",
                                         "而非",
                                         "不等于",
                                         "并不是",
                                         "没有",
                                         "不选",
                                         "不选择",
                                         "不应选",
                                         "不能选",
                                         "未见",
                                         "看不到",
                                         "没看到",
                                         "没有看到",
                                         "排除",
                                         "不為",
                                         "不为",
                                         "≠",
                                         "different from",
                                         "false that",
                                         "untrue that",
                                         "not true that"};
// Words between a denial and what it denies.
constexpr std::string_view kLinks[] = {"be", "is",   "was",   "are",     "equal",  "to",    ":",       "it's",
                                       "it", "that", "there", "exactly", "really", "think", "believe", "="};

constexpr std::string_view kDenials[] = {  // after an answer; blanks before them are skipped
    "? no",
    "ではな",
    "ではありません",
    "ではございません",
    "じゃな",
    "じゃありません",
    "でない",
    "은 아니",
    "는 아니",
    "이 아니",
    "가 아니",
    "이 아닙",
    "가 아닙",
    "은 아닙",
    "는 아닙",
    "は間違",
    "は誤",
    "は違",
    "が誤",
    "項は誤",
    "不对",
    "不正确",
    "不符合",
    "不是",
    "是错",
    "是不对",
    "是不正确",
    "都不",
    "均不",
    "错",
    "选项不",
    "选项错",
    "değil",
    "yanlış",
    "नहीं",
    "गलत",
    "ist falsch",
    "ist nicht",
    "est faux",
    "est fausse",
    "est incorrect",
    "n'est pas",
    "es incorrect",
    "es falso",
    "es falsa",
    "no es",
    "no son",
    "è sbagliat",
    "è errat",
    "non è",
    "está errad",
    "é incorret",
    "não é",
    "неверн",
    "неправильн",
    "не вер",
    "не прав"};
constexpr std::string_view kVerbs[] = {"is",    "was",   "are",    "were",     "would be",  "must be",
                                       "seems", "looks", "can be", "has been", "have been", "should be"};
constexpr std::string_view kTakenBack[] = {"it is",   "it's",     "it was",   "that is",   "that's", "that was",
                                           "this is", "this was", "they are", "they were", "he is",  "she is"};
constexpr std::string_view kDeniedVerbs[] = {"is not",       "isn't",       "was not",       "wasn't",
                                             "are not",      "aren't",      "were not",      "would not be",
                                             "wouldn't be",  "cannot be",   "can't be",      "can not be",
                                             "could not be", "couldn't be", "does not seem", "doesn't seem"};
constexpr std::string_view kWrong[] = {"wrong",      "incorrect",     "false",          "invalid",      "impossible",
                                       "eliminated", "excluded",      "ruled out",      "out",          "too many",
                                       "too few",    "too high",      "too low",        "too large",    "too small",
                                       "too big",    "unlikely",      "not the answer", "a mistake",    "the wrong",
                                       "a wrong",    "the incorrect", "an incorrect",   "the false",    "a trap",
                                       "a decoy",    "a distractor",  "the distractor", "a red herring"};
constexpr std::string_view kNotRight[] = {"not right", "not correct", "not true", "not it", "not so"};
constexpr std::string_view kRight[] = {"right",     "correct",     "true",      "it",        "possible", "the answer",
                                       "my answer", "the correct", "the right", "the final", "valid",    "an option"};

template <typename Verbs, typename Words>
bool says(std::string_view text, const Verbs& verbs, const Words& words) {
  return std::any_of(std::begin(verbs), std::end(verbs), [&](std::string_view verb) {
    return starts_with_word(text, verb) && starts_with_any_word(behind(text.substr(verb.size()), " "), words);
  });
}

// "isn't.", "is not": does the sentence end there?
bool ends_with_denied_verb(std::string_view text) {
  return std::any_of(std::begin(kDeniedVerbs), std::end(kDeniedVerbs), [&](std::string_view verb) {
    return text.starts_with(verb) &&
           (text.size() == verb.size() || std::string_view(".,;!\n").find(text[verb.size()]) != std::string_view::npos);
  });
}

// " was my first guess, but it is wrong", ", but no.": a few words, then a clause that takes them back.
bool is_taken_back(std::string_view text) {
  constexpr std::ptrdiff_t kMostBlanks = 5;
  const std::size_t at = text.find("but ");
  if (at == text.npos || at == 0 || text[at - 1] != ' ') return false;
  std::string_view said = trim(text.substr(0, at));
  if (said.ends_with(',')) said.remove_suffix(1);
  if (said.find_first_of(",.;:!?\n") != said.npos || std::count(said.begin(), said.end(), ' ') > kMostBlanks)
    return false;
  const std::string_view clause = text.substr(at + 4);
  return (clause == "no" && text.size() < kWindow) ||
         starts_with_any(clause, std::initializer_list<std::string_view>{"no.", "no,", "no!"}) ||
         says(clause, kTakenBack, kWrong) || says(clause, kTakenBack, kNotRight);
}

// --- Bounds ---

constexpr std::string_view kBounds[] = {
    "at least",    "at most",      "less than",    "more than",    "greater than", "fewer than", "smaller than",
    "larger than", "higher than",  "lower than",   "bigger than",  "over",         "under",      "above",
    "below",       "up to",        "minimum",      "maximum",      "minimum of",   "maximum of", "upwards of",
    "exceeds",     "exceeding",    "no more than", "no less than", "beyond",       "mehr als",   "weniger als",
    "mindestens",  "höchstens",    "wenigstens",   "maximal",      "minimal",      "über",       "unter",
    "größer als",  "kleiner als",  "bis zu",       "más de",       "menos de",     "al menos",   "como máximo",
    "como mínimo", "por lo menos", "mayor que",    "menor que",    "hasta",        "plus de",    "moins de",
    "au moins",    "au plus",      "jusqu'à",      "supérieur à",  "inférieur à",  "più di",     "meno di",
    "almeno",      "al massimo",   "oltre",        "mais de",      "pelo menos",   "no máximo",  "no mínimo",
    "maior que",   "больше",       "более",        "больше чем",   "более чем",    "меньше",     "менее",
    "меньше чем",  "свыше",        "не менее",     "не более",     "максимум",     "минимум",    "до",
    "en az",       "en fazla",     "en çok",       "ít nhất",      "nhiều nhất",   "nhiều hơn",  "lớn hơn",
    "nhỏ hơn",     "ít hơn",       "trên",         "dưới",         "कम से कम",      "से अधिक",     "على الأقل",
    "أكثر من",     "أقل من",       "lebih dari",   "kurang dari",  "minstens",     "meer dan",   "co najmniej",
    "więcej niż",  "超过",         "超過",         "多于",         "少于",         "大于",       "小于",
    "至少",        "最多",         "不到",         "不足",         "不少于",       "不超过",     "少なくとも",
    "最大",        "最低",         "최소",         "최대",         "적어도",       "至少有",     "最多有",
    "至少需要",    "最少需要",     "至少要",       "不止",         "超过了",       "超過了",     "多达"};
constexpr std::string_view kPlainBounds[] = {"over", "under", "above", "below"};  // not after a number: "3 over 5"
constexpr std::string_view kBoundsBehind[] = {
    "or more",      "or fewer",          "or less",   "or greater", "or higher",    "or above",
    "or below",     "or lower",          "or over",   "or under",   "and above",    "and up",
    "and more",     "and over",          "and below", "at least",   "at most",      "oder mehr",
    "oder weniger", "ou plus",           "ou moins",  "o más",      "o menos",      "o più",
    "o meno",       "ou mais",           "ou menos",  "и более",    "или больше",   "или более",
    "и больше",     "или меньше",        "veya daha", "ve üzeri",   "hoặc hơn",     "trở lên",
    "से अधिक",       "से ज्यादा",           "से कम",      "and a half", "and one half", "and a quarter",
    "and a third",  "and three quarters"};
constexpr std::string_view kBoundSigns[] = {"\u2264", "\u2265", "<=", ">="};

// A bound after a number and at most two characters of a counter: 5以上, 5个以上.
bool has_east_asian_bound(std::string_view rest) {
  for (int i = 0; i < 3 && !rest.empty() && !is_parted(rest); ++i) {
    if (starts_with_any(rest, std::initializer_list<std::string_view>{
                                  "以上", "以下", "以内", "以內", "未满", "未滿", "未満", "超", "이상", "이하", "미만",
                                  "초과", "より多", "より少", "より大", "より小", "보다 많", "보다 적"}))
      return true;
    rest = behind(rest.substr(first_character(rest).bytes), " ");
  }
  return false;
}

// A denial after a number and at most two characters of a counter: 5명이 아닙니다, 5个不对.
bool has_east_asian_denial(std::string_view rest) {
  for (int i = 0; i < 3 && !rest.empty() && !is_parted(rest); ++i) {
    if (starts_with_any(rest, std::initializer_list<std::string_view>{"이 아니", "이 아닙", "가 아니", "가 아닙",
                                                                      "은 아니", "은 아닙", "不是", "不对", "ではな",
                                                                      "ではありません", "じゃな"}))
      return true;
    rest = behind(rest.substr(first_character(rest).bytes), " ");
  }
  return false;
}

// "12 < x < 15", "от 5 до 8": the number before is one end of a range.
bool begins_range(std::string_view rest) {
  if (rest.starts_with("до ") && rest.size() > 5 && rest[5] >= '0' && rest[5] <= '9') return true;
  if (rest.empty() || (rest[0] != '<' && rest[0] != '>')) return false;
  const std::size_t second = rest.find_first_of("<>", 1);
  return second != rest.npos && second < 16 && rest.substr(0, second).find('/') == rest.npos &&
         rest.substr(second).size() > 1 && (rest[second + 1] == ' ' || rest[second + 1] == '=');
}

// Does the sign that ends a text close a tag, <count>, or an arrow?
bool ends_tag_or_arrow(std::string_view said) {
  const std::string_view before = said.substr(0, said.size() - 1);
  if (before.ends_with('-') || before.ends_with('=') || before.ends_with('>')) return true;
  const std::size_t open = before.find_last_of("<> ");
  return open != before.npos && before[open] == '<' && open + 1 < before.size();
}

// x < 5, >5; not "> 5", which is a quote in Markdown.
bool ends_with_bound_sign(std::string_view lower) {
  const std::string_view said = trim(lower);
  if (std::any_of(std::begin(kBoundSigns), std::end(kBoundSigns),
                  [&](std::string_view sign) { return said.ends_with(sign); }))
    return true;
  if (said.ends_with('<')) return !said.ends_with("<<");
  if (!said.ends_with('>') || ends_tag_or_arrow(said)) return false;
  const bool quotes = lower.ends_with(' ') && (said.size() == 1 || said[said.size() - 2] == '\n');
  return !quotes;
}

bool ends_with_digit(std::string_view text) { return !text.empty() && text.back() >= '0' && text.back() <= '9'; }

// A quick test: no denial ends with a digit, a comma or a closing bracket.
bool may_end_denial(std::string_view before) {
  const std::size_t last = before.find_last_not_of(' ');
  return last != before.npos && !ends_with_digit(before.substr(0, last + 1)) &&
         (is_word_byte(before[last]) || std::string_view(":=([\"'*").find(before[last]) != std::string_view::npos);
}

// A quick test: a denial begins with a word or a question mark.
bool may_begin_denial(char c) { return c == '?' || (is_word_byte(c) && !(c >= '0' && c <= '9')); }

// " was reached in 2010", " occurred".
bool is_reached(std::string_view after) {
  constexpr std::string_view kReached[] = {"reached",  "recorded", "seen", "set",        "hit",      "attained",
                                           "achieved", "observed", "had",  "registered", "reported", "noted"};
  constexpr std::string_view kAuxiliaries[] = {" was ", " is ", " were ", " has been "};
  const std::string lower = lower_start(after);
  const std::string_view clause = std::string_view(lower).substr(0, lower.find_first_of(".,;"));
  return starts_with_any_word(behind(clause, " "), std::initializer_list<std::string_view>{"occurs", "occurred"}) ||
         std::any_of(std::begin(kAuxiliaries), std::end(kAuxiliaries), [&](std::string_view verb) {
           const std::size_t at = clause.find(verb);
           return at != clause.npos && starts_with_any_word(clause.substr(at + verb.size()), kReached);
         });
}

// "reaches a maximum of", "peaked at a minimum of": the next number is a value, not a bound.
bool names_peak(std::string_view left) {
  constexpr std::string_view kPeaks[] = {"reach",  "reaches", "reached", "reaching", "has",     "had",    "with",
                                         "shows",  "showed",  "hits",    "hit",      "attains", "at",     "to",
                                         "drops",  "falls",   "rises",   "is",       "was",     "having", "attained",
                                         "passed", "records", "saw",     "sees",     "recorded"};
  left = trim(left);
  for (const std::string_view article : {" a", " its", " the", " an"})
    if (left.ends_with(article)) {
      left.remove_suffix(article.size());
      const std::size_t blank = left.rfind(' ');
      return is_among(left.substr(blank == left.npos ? 0 : blank + 1), kPeaks);
    }
  return false;
}

}  // namespace

bool denies_next(std::string_view before) {
  if (!may_end_denial(before)) return false;
  const std::string lower = lower_end(before);
  std::string_view said = lower;
  for (int i = 0; i < 5; ++i) {
    while (!said.empty() && std::string_view(" ([\"'*").find(said.back()) != std::string_view::npos)
      said.remove_suffix(1);
    if (said.empty() || ends_with_digit(said)) return false;
    if (ends_with_any_word(said, kDeniers) || said.ends_with("n't")) return true;
    const auto link = std::find_if(std::begin(kLinks), std::end(kLinks),
                                   [&](std::string_view word) { return ends_with_word(said, word); });
    if (link == std::end(kLinks)) return false;
    said.remove_suffix(link->size());
  }
  return false;
}

bool denies_last(std::string_view after) {
  const std::string_view next = behind(after, " )]\"'*");
  const bool clause_follows = next.starts_with(", which ") || next.starts_with(", but ");
  if (next.empty() || (!may_begin_denial(next[0]) && !clause_follows)) return false;
  std::string rest = lower_start(next);
  if (is_taken_back(rest)) return true;
  for (const std::string_view clause : {", which ", "which "})
    if (rest.starts_with(clause)) rest.erase(0, clause.size());
  if (starts_with_any(rest, kDenials)) return !rest.starts_with("? no") || starts_with_word(rest, "? no");
  return has_east_asian_denial(rest) || says(rest, kVerbs, kWrong) || says(rest, kDeniedVerbs, kRight) ||
         ends_with_denied_verb(rest);
}

bool bounds_next(std::string_view before, std::string_view after) {
  const std::size_t last = before.find_last_not_of(' ');
  if (last == before.npos ||
      (!is_word_byte(before[last]) && std::string_view("<>=").find(before[last]) == std::string_view::npos))
    return false;
  if (ends_with_digit(before.substr(0, last + 1))) return false;
  const std::string lower = lower_end(before);
  const std::string_view said = trim(lower);
  if (said.empty()) return false;
  if (ends_with_bound_sign(lower)) return true;
  const auto bound = std::find_if(std::begin(kBounds), std::end(kBounds),
                                  [&](std::string_view word) { return ends_with_word(said, word); });
  if (bound == std::end(kBounds)) return false;
  const bool plain = std::find(std::begin(kPlainBounds), std::end(kPlainBounds), *bound) != std::end(kPlainBounds);
  const std::string_view left = said.substr(0, said.size() - bound->size());
  if (left.ends_with('\\')) return false;  // \over
  if ((*bound == "maximum of" || *bound == "minimum of") && (names_peak(left) || is_reached(after))) return false;
  return !plain || !ends_with_digit(trim(left));
}

bool bounds_last(std::string_view after) {
  if (after.starts_with('+'))
    return after.size() == 1 || std::string_view(" .,;!\n)").find(after[1]) != std::string_view::npos;
  const std::string_view next = behind(after, " ");
  if (begins_range(next)) return true;
  if (next.empty() || !may_begin_denial(next[0])) return false;
  const std::string rest = lower_start(next);
  return starts_with_any_word(rest, kBoundsBehind) || has_east_asian_bound(rest);
}

}  // namespace agon::env
