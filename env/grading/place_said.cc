#include "env/grading/place_said.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "core/text.h"
#include "env/grading/answer/denied.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/near_place.h"

namespace agon::env {
namespace {

// --- Clauses ---

// The bytes of the mark at `at` that ends a clause; 0: there is none.
std::size_t clause_mark(std::string_view text, std::size_t at) {
  if (std::string_view(",;:!?\n").find(text[at]) != std::string_view::npos) return 1;
  if (text[at] == '.') return at + 1 == text.size() || text[at + 1] == ' ' ? 1 : 0;
  for (const std::string_view mark : {"\u3002", "\uff0c", "\uff1b", "\uff1a", "\u3001"})
    if (text.substr(at).starts_with(mark)) return mark.size();
  return 0;
}

// The text without quoted parts, which are labels of what to click.
std::string without_quoted(std::string_view text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool opens = text[at] == '"' || (text[at] == '\'' && (at == 0 || !is_word_byte(text[at - 1])));
    const std::size_t close = opens ? text.find(text[at], at + 1) : text.npos;
    if (close != text.npos && close > at + 1)
      at = close;
    else
      kept += text[at];
  }
  return kept;
}

// The clause that leads to the place after a text: from the last mark or " but " on.
std::string clause_before(std::string_view before) {
  const std::string text = without_quoted(end_of(before));
  std::size_t begin = 0;
  for (std::size_t at = text.size(); at-- > 0 && begin == 0;)
    if (const std::size_t size = clause_mark(text, at)) begin = at + size;
  std::string clause = text.substr(begin);
  const std::string lower = to_lower(clause);
  if (lower.size() != clause.size()) return clause;
  constexpr std::string_view kTurns[] = {"but",     "so",      "then",         "while",        "whereas", "instead",
                                         "however", "because", "\u800c\u662f", "\u4f46\u662f", "sondern", "sino"};
  const auto [turn, size] = last_word(lower, kTurns);
  return turn == lower.npos ? clause : clause.substr(turn + size);
}

// --- Denials before a place ---

constexpr std::string_view kDenyingWords[] = {"not",  "never", "cannot", "nor",      "neither",      "avoid", "nicht",
                                              "niet", "ne",    "pas",    "n\u00e3o", "\u043d\u0435", "nie"};
constexpr std::string_view kNone[] = {"no",     "none",       "nothing", "nowhere", "kein",   "keine",
                                      "keinen", "aucun",      "aucune",  "non",     "nessun", "\u043d\u0435\u0442",
                                      "nenhum", "ning\u00fan"};
constexpr std::string_view kHaving[] = {"with",     "has", "have", "having", "had",
                                        "contains", "of",  "by",   "if",     "whether"};
// After "no" and "not", these mean that nothing is denied.
constexpr std::string_view kNoDenials[] = {"only",   "just",    "far",    "doubt",    "wait",   "problem",
                                           "matter", "worries", "forget", "hesitate", "longer", "later"};
constexpr std::string_view kOpinions[] = {"think", "believe", "sure",      "certain",   "know",  "say",  "agree",
                                          "true",  "correct", "confident", "convinced", "clear", "case", "right"};
constexpr std::string_view kVerbs[] = {"is",   "are",  "was",  "were",   "it's",    "that's", "there's", "she's",
                                       "he's", "lies", "sits", "stands", "appears", "can",    "should",  "will",
                                       "must", "i'll", "i'd",  "would",  "has",     "needs"};
constexpr std::string_view kRelatives[] = {"that", "which", "who", "where", "what"};

bool is_number(std::string_view word) { return word[0] >= '0' && word[0] <= '9'; }

// Does the sentence continue, after its word `from`, with a verb that says what the place is?
bool goes_on(const std::vector<std::string_view>& words, std::size_t from) {
  for (std::size_t i = from + 2; i < words.size(); ++i)
    if (is_among(words[i], kVerbs) && !is_among(words[i - 1], kRelatives)) return true;
  return false;
}

// "Not now", "No", "Don't allow" within a sentence: a name.
bool is_name(std::string_view written) {
  return written.size() > 1 && written[0] >= 'A' && written[0] <= 'Z' && written[1] >= 'a' && written[1] <= 'z';
}

// Does word `i` of a clause deny the place after the clause? `written`: the words in their original case.
bool denies_at(const std::vector<std::string_view>& words, const std::vector<std::string_view>& written,
               std::size_t i) {
  const std::string_view word = words[i];
  const bool none = is_among(word, kNone);
  if (!none && !is_among(word, kDenyingWords) && !word.ends_with("n't")) return false;
  if (i > 0 && (is_name(written[i]) || is_among(words[i - 1], kHaving))) return false;
  const std::string_view next = i + 1 < words.size() ? words[i + 1] : std::string_view();
  if (is_among(next, kNoDenials) || (none && !next.empty() && is_number(next))) return false;
  if (i == 0 || is_among(next, kOpinions)) return true;
  return !goes_on(words, i);
}

constexpr std::string_view kChineseDenials[] = {
    "\u4e0d\u5728",       "\u4e0d\u662f",       "\u4e0d\u8981", "\u4e0d\u80fd", "\u4e0d\u5e94",
    "\u4e0d\u4f1a",       "\u4e0d\u4f4d\u4e8e", "\u4e0d\u53ef", "\u4e0d\u8be5", "\u4e0d\u70b9",
    "\u4e0d\u9700\u8981", "\u4e0d\u5b58\u5728", "\u522b\u70b9", "\u52ff",       "\u6ca1\u6709",
    "\u6ca1\u5728",       "\u65e0\u6cd5",       "\u5e76\u975e", "\u907f\u514d", "\u672a\u5728",
    "\u4e0d\u5c5e\u4e8e", "\u4e0d\u5305\u542b", "\u522b\u6309", "\u5225\u6309"};

// True for 目标不在, 不要点击; false for 没有边框的按钮位于.
bool has_chinese_denial(std::string_view clause) {
  const auto [at, size] = last_word(clause, kChineseDenials);
  if (at == clause.npos) return false;
  const std::string_view rest = clause.substr(at + size);
  const std::size_t of = rest.find("\u7684");
  return of == rest.npos ||
         !contains_any(rest.substr(of), std::initializer_list<std::string_view>{"\u4f4d\u4e8e", "\u5728", "\u4e3a",
                                                                                "\u662f", "\u5750\u6807"});
}

bool denies_behind_clause(std::string_view before) {
  const std::string clause = clause_before(before);
  if (has_chinese_denial(clause)) return true;
  const std::string lower = to_lower(clause);
  const std::vector<std::string_view> words = words_near(lower), written = words_near(clause);
  if (words.size() != written.size()) return false;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (denies_at(words, written, i)) return true;
  return false;
}

// --- Denials after a place ---

constexpr std::string_view kDeniedVerbs[] = {
    "is not",           "isn't",          "was not",           "wasn't",       "are not",        "aren't",
    "cannot be",        "can't be",       "is never",          "would not be", "wouldn't be",    "is no longer",
    "is certainly not", "is clearly not", "is definitely not", "is also not",  "is actually not"};
constexpr std::string_view kDeniedThings[] = {
    "the",      "a",       "an",   "in",     "at",     "on",   "it",       "what",      "where",  "correct",
    "right",    "valid",   "part", "inside", "my",     "your", "our",      "this",      "that",   "any",
    "accurate", "related", "its",  "one",    "within", "true", "relevant", "clickable", "visible"};
constexpr std::string_view kFailures[] = {"does not contain",
                                          "doesn't contain",
                                          "does not show",
                                          "doesn't show",
                                          "does not match",
                                          "doesn't match",
                                          "does not hold",
                                          "does not include",
                                          "doesn't include",
                                          "is empty",
                                          "is outside",
                                          "is off",
                                          "misses",
                                          "contains no",
                                          "contains nothing",
                                          "has no ",
                                          "shows no",
                                          "shows nothing",
                                          "do not contain",
                                          "don't contain",
                                          "is a mistake",
                                          "was a mistake",
                                          "is the wrong",
                                          "was the wrong",
                                          "does not point",
                                          "doesn't point",
                                          "points to nothing",
                                          "does not correspond",
                                          "is not it",
                                          "would not",
                                          "won't ",
                                          "should not",
                                          "shouldn't",
                                          "is an incorrect",
                                          "is a wrong",
                                          "does not cover",
                                          "doesn't cover",
                                          "does not enclose",
                                          "must not be"};
constexpr std::string_view kIntroductions[] = {
    "which ",     "that ",     "this ",     "it ",           "but that ",   "but this ",      "but it ",
    "but which ", "and that ", "and this ", "however that ", "however it ", "however, that ", "however, it "};
constexpr std::string_view kWrong[] = {"is wrong",      "'s wrong",       "is incorrect",   "'s incorrect",
                                       "was wrong",     "is not correct", "is not right",   "isn't right",
                                       "isn't correct", "'s not right",   "'s not correct", "is a mistake",
                                       "was a mistake", "seems wrong",    "would be wrong", "was incorrect"};
constexpr std::string_view kChineseBehind[] = {
    "\u4e0d\u662f",       "\u4e0d\u5bf9", "\u4e0d\u6b63\u786e", "\u662f\u9519",       "\u9519",
    "\u5e76\u4e0d\u662f", "\u5e76\u975e", "\u4e0d\u5728",       "\u4e0d\u5305\u542b", "\u4e2d\u6ca1\u6709",
    "\u5904\u6ca1\u6709", "\u6ca1\u6709", "\u4e0d\u51c6\u786e", "\u4e0d\u80fd\u70b9", "\u5185\u6ca1\u6709",
    "\u91cc\u6ca1\u6709", "\u4e0d\u5e94"};

// The text after brackets, quotes and a tag that close a place.
std::string_view behind_place(std::string_view after) {
  for (int i = 0; i < 2; ++i) {
    after = behind(after, " )]}\"'*`");
    const std::size_t end =
        after.starts_with("</") || after.starts_with("<|") ? after.substr(0, 24).find('>') : after.npos;
    if (end != after.npos) after = after.substr(end + 1);
  }
  return behind(after, " )]}\"'*`");
}

bool denies_in_front(std::string_view after) {
  const std::string_view next = behind_place(after);
  if (denies_last(next)) return true;
  if (next.empty() || (!is_word_byte(next[0]) && std::string_view(",.-?;").find(next[0]) == std::string_view::npos))
    return false;
  const std::string lower = to_lower(start_of(next));
  if (starts_with_any(lower, kChineseBehind)) return true;
  for (const std::string_view verb : kDeniedVerbs)
    if (starts_with_word(lower, verb) &&
        starts_with_any_word(behind(std::string_view(lower).substr(verb.size()), " "), kDeniedThings))
      return true;
  if (starts_with_any(lower, kFailures)) return true;
  std::string_view said = behind(lower, " ,.-?;");
  const bool introduced = std::any_of(std::begin(kIntroductions), std::end(kIntroductions), [&](std::string_view word) {
    const std::string_view pronoun = word.substr(0, word.size() - 1);
    if (!said.starts_with(pronoun)) return false;
    said = behind(said.substr(pronoun.size()), " ");
    return true;
  });
  return introduced && starts_with_any(said, kWrong);
}

// --- Sizes ---

constexpr std::string_view kSizeWords[] = {"size",  "resolution",   "dimension",          "dimensions",
                                           "sized", "\u5c3a\u5bf8", "\u5206\u8fa8\u7387", "\u5927\u5c0f"};
constexpr std::string_view kSizeLinks[] = {
    "is",     "are",    "of",     "the",   "this",     "image",  "picture", "screen", "screenshot", "was",
    "in",     "pixels", "px",     "about", "as",       "width",  "height",  "and",    "by",         "x",
    "w",      "h",      "a",      "photo", "original", "window", "display", "input",  "given",      "approximately",
    "around", "wxh",    "\u4e3a", "\u662f"};

// --- Landmarks ---

constexpr std::string_view kRelations[] = {"left of",
                                           "right of",
                                           "left side of",
                                           "right side of",
                                           "above",
                                           "below",
                                           "next to",
                                           "near",
                                           "beside",
                                           "behind",
                                           "in front of",
                                           "under",
                                           "underneath",
                                           "beneath",
                                           "between",
                                           "adjacent to",
                                           "close to",
                                           "on top of",
                                           "opposite",
                                           "alongside",
                                           "inside",
                                           "within",
                                           "nearby",
                                           "over",
                                           "beyond",
                                           "left from",
                                           "right from",
                                           "further than",
                                           "holding",
                                           "sitting on",
                                           "standing on",
                                           "wearing",
                                           "riding",
                                           "carrying",
                                           "with a",
                                           "with the",
                                           "links von",
                                           "rechts von",
                                           "neben",
                                           "\u00fcber",
                                           "unter",
                                           "hinter",
                                           "vor",
                                           "\u00e0 gauche",
                                           "\u00e0 droite",
                                           "\u00e0 c\u00f4t\u00e9",
                                           "au-dessus",
                                           "en dessous",
                                           "a la izquierda",
                                           "a la derecha",
                                           "junto a",
                                           "encima de",
                                           "debajo de",
                                           "al lado de",
                                           "\u0441\u043b\u0435\u0432\u0430 \u043e\u0442",
                                           "\u0441\u043f\u0440\u0430\u0432\u0430 \u043e\u0442",
                                           "\u0440\u044f\u0434\u043e\u043c \u0441"};
constexpr std::string_view kSidesBehind[] = {
    "\u5de6\u4fa7", "\u5de6\u8fb9", "\u53f3\u4fa7", "\u53f3\u8fb9", "\u5de6\u65b9", "\u53f3\u65b9", "\u4e0a\u65b9",
    "\u4e0b\u65b9", "\u4e0a\u9762", "\u4e0b\u9762", "\u65c1\u8fb9", "\u65c1",       "\u9644\u8fd1", "\u524d\u9762",
    "\u540e\u9762", "\u524d\u65b9", "\u540e\u65b9", "\u4e4b\u95f4", "\u5de6\u9762", "\u53f3\u9762"};
constexpr std::string_view kPronouns[] = {"it", "them", "him", "her", "these", "those", "which", "this"};

// "it is", "which lies": a sentence that continues to describe the place before it.
bool speaks_of_the_same(std::string_view lower) {
  const std::vector<std::string_view> words = words_near(lower.substr(0, 40));
  if (words.empty()) return false;
  if (words[0] == "it's" || words[0] == "that's") return true;
  return (is_among(words[0], kPronouns) || words[0] == "that") && words.size() > 1 && is_among(words[1], kVerbs);
}

bool has_verb(std::string_view lower) {
  const std::vector<std::string_view> words = words_near(lower);
  for (std::size_t i = 0; i < words.size(); ++i)
    if (is_among(words[i], kVerbs) && (i == 0 || !is_among(words[i - 1], kRelatives))) return true;
  return false;
}

// The text without <ref>, </box>, <|box_start|> and "bbox:".
std::string without_tags(std::string_view text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = text[at] == '<' ? text.substr(at, 24).find('>') : text.npos;
    if (end != text.npos)
      at += end;
    else
      kept += text[at];
  }
  for (const std::string_view label : {"bounding box:", "bbox:", "box:"}) kept = replace_all(kept, label, "");
  return kept;
}

// The last sentence that begins within a text, after a mark; the whole text if none does.
std::string_view last_sentence(std::string_view text) {
  for (std::size_t at = text.size(); at-- > 0;) {
    const bool ends = std::string_view(".!?;").find(text[at]) != std::string_view::npos &&
                      (at + 1 == text.size() || text[at + 1] == ' ');
    if (ends) return text.substr(at + 1);
    if (text.substr(at).starts_with("\u3002")) return text.substr(at + 3);
  }
  return text;
}

}  // namespace

bool denies_place(std::string_view before, std::string_view after) {
  return denies_next(before) || denies_behind_clause(before) || denies_in_front(after);
}

bool ends_with_size(std::string_view before) {
  const std::string lower = to_lower(end_of(before).substr(before.size() > 60 ? end_of(before).size() - 60 : 0));
  const auto [at, size] = last_word(lower, kSizeWords);
  if (at == lower.npos) return false;
  const std::vector<std::string_view> words = words_near(std::string_view(lower).substr(at + size));
  return std::string_view(lower).substr(at).find(". ") == std::string_view::npos &&
         std::all_of(words.begin(), words.end(), [](std::string_view word) { return is_among(word, kSizeLinks); });
}

bool names_landmark(std::string_view written, std::string_view after, bool listed) {
  if (written.size() > kPlaceWindow) return false;
  const std::string between = without_tags(written);
  if (between.find_first_of("<>=:\n") != between.npos) return false;
  const std::string_view next = behind_place(after);
  if (starts_with_any(next.starts_with("\u7684") ? next.substr(3) : next, kSidesBehind)) return true;
  const std::string lower = to_lower(behind(between, ")]}'\"*` "));
  const std::string_view sentence = last_sentence(lower);
  if (sentence.size() < lower.size() && !speaks_of_the_same(sentence)) return false;
  const auto [at, size] = last_word(sentence, kRelations);
  if (at == sentence.npos) {
    const std::string_view rest = behind(sentence, ", ");
    return listed && starts_with_word(rest, "and") && !has_verb(rest);
  }
  const std::string_view rest = behind(sentence.substr(at + size), " ");
  return !has_verb(rest) && !starts_with_any_word(rest, kPronouns);
}

std::string without_coordinate_frame(std::string_view plain) {
  constexpr std::string_view kOrigins[] = {"(0, 0)", "(0,0)", "[0, 0]", "[0,0]"};
  constexpr std::string_view kFrames[] = {"where", "with", "assuming", "that", "considering", "taking", "if"};
  for (const std::string_view origin : kOrigins) {
    const std::size_t at = plain.find(origin);
    if (at == plain.npos || !has_digit(plain.substr(0, at))) continue;
    const std::string_view before = trim(plain.substr(0, at)), after = plain.substr(at + origin.size());
    const std::string named = to_lower(cut_text(after, 40));
    if (!contains_any(named, std::initializer_list<std::string_view>{"top", "upper", "origin"}) ||
        !ends_with_any_word(before, kFrames))
      continue;
    const std::size_t stop = std::min({after.find(". "), after.find('\n'), after.size()});
    return std::string(before) + std::string(after.substr(stop));
  }
  return std::string(plain);
}

}  // namespace agon::env
