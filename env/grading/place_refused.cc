#include "env/grading/place_refused.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/text.h"
#include "env/grading/answer/word_list.h"

namespace agon::env {
namespace {

constexpr std::size_t kMostRead = 400;  // bytes of a sentence that are read

constexpr std::string_view kHints[] = {"not",
                                       "n't",
                                       "No ",
                                       "missing",
                                       "absent",
                                       "no ",
                                       "None",
                                       "unable",
                                       "fail",
                                       "xample",
                                       "e.g.",
                                       "nstance",
                                       "nothing",
                                       "Nothing",
                                       "nicht",
                                       "kein",
                                       "pas ",
                                       "ossible",
                                       "introuvable",
                                       "non ",
                                       "n\u00e3o ",
                                       "N\u00e3o ",
                                       "\u043d\u0435",
                                       "\u041d\u0435",
                                       "\u043d\u0435\u0442",
                                       "\u65e0\u6cd5",
                                       "\u4e0d",
                                       "\u6ca1",
                                       "\u672a",
                                       "\u4f8b",
                                       "\u6bd4\u5982",
                                       "\u793a",
                                       "\u898b",
                                       "\uc5c6",
                                       "\uc54a",
                                       "jemplo",
                                       "eispiel",
                                       "\u043f\u0440\u0438\u043c\u0435\u0440"};

// --- Units: sentences, and their parts after " but " and ";" ---

bool is_turn(std::string_view rest) {
  constexpr std::string_view kTurns[] = {" but ", " however, ", " however ", " so I ", " so the ", " so i "};
  return starts_with_any(rest, kTurns) || rest.starts_with("\uff0c\u4f46") || rest.starts_with(",\u4f46") ||
         rest.starts_with("\uff0c\u4e0d\u8fc7") || rest.starts_with(",\u4e0d\u8fc7");
}

// Where the unit that begins at `begin` ends.
std::size_t unit_end(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n' || c == ';') return at + 1;
    if (c == '.' || c == '!' || c == '?') {
      const bool ends = at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\n';
      const bool short_form = text.substr(0, at).ends_with("e.g") || text.substr(0, at).ends_with("i.e");
      if (ends && !short_form) return at + 1;
    }
    if (at > begin && is_turn(text.substr(at))) return at + (c == ' ' ? 1 : c == ',' ? 1 : 3);
    if (text.substr(at).starts_with("\u3002") || text.substr(at).starts_with("\uff1b")) return at + 3;
  }
  return text.size();
}

std::vector<std::string_view> words_of(std::string_view text) { return words_in(text, "'"); }

// Is the unit a place alone, or in a form that is not prose: a line of numbers, a tag, JSON?
bool stands_alone(std::string_view unit) {
  if (!has_digit(unit)) return false;
  constexpr std::string_view kForms[] = {"<box", "<point", "<|box", "<loc_", "\":", "':", "click("};
  if (contains_any(unit, kForms)) return true;
  const std::vector<std::string_view> words = words_of(unit);
  return std::none_of(words.begin(), words.end(), [](std::string_view word) {
    return (word[0] < '0' || word[0] > '9') && word != "px" && word != "pixels";
  });
}

// --- Refusals ---

constexpr std::string_view kInabilities[] = {"cannot", "unable", "not", "fail", "failed", "fails", "never"};
constexpr std::string_view kSeeing[] = {
    "find",    "locate",   "see",    "identify", "detect",  "spot",     "recognize", "recognise", "determine",
    "provide", "view",     "access", "pinpoint", "give",    "tell",     "assist",    "help",      "discern",
    "observe", "perceive", "answer", "ground",   "finding", "locating", "seeing",    "notice",    "mark"};
constexpr std::string_view kBeing[] = {"visible",  "present",      "found",   "shown",     "there",
                                       "detected", "available",    "exist",   "displayed", "depicted",
                                       "seen",     "identifiable", "located", "appear"};
constexpr std::string_view kPictures[] = {"image", "picture", "photo",  "photograph", "screenshot", "screen",
                                          "scene", "page",    "figure", "view",       "frame",      "interface"};
// With these, what a sentence does not see is not the target.
constexpr std::string_view kExcuses[] = {"else",       "other",   "others",  "another",    "more",      "better",
                                         "clearly",    "exact",   "exactly", "precise",    "precisely", "fully",
                                         "entire",     "whole",   "further", "additional", "rest",      "doubt",
                                         "wait",       "problem", "need",    "ambiguity",  "longer",    "well",
                                         "completely", "only",    "sure",    "certain"};
constexpr std::string_view kNotFound[] = {"nicht finden",
                                          "nicht sehen",
                                          "nicht erkennen",
                                          "nicht lokalisieren",
                                          "nicht sichtbar",
                                          "nicht gefunden",
                                          "nicht zu sehen",
                                          "nicht vorhanden",
                                          "es gibt kein",
                                          "ne peux pas",
                                          "ne trouve pas",
                                          "ne vois pas",
                                          "pas visible",
                                          "introuvable",
                                          "il n'y a pas",
                                          "impossible de",
                                          "no puedo",
                                          "no encuentro",
                                          "no se encuentra",
                                          "no hay",
                                          "no es visible",
                                          "no veo",
                                          "no se ve",
                                          "non riesco",
                                          "non trovo",
                                          "non vedo",
                                          "non posso",
                                          "non c'\u00e8",
                                          "n\u00e3o consigo",
                                          "n\u00e3o encontr",
                                          "n\u00e3o h\u00e1",
                                          "n\u00e3o posso",
                                          "n\u00e3o vejo",
                                          "\u043d\u0435 \u043c\u043e\u0433\u0443",
                                          "\u043d\u0435 \u0443\u0434\u0430\u043b\u043e\u0441\u044c",
                                          "\u043d\u0435 \u0432\u0438\u0436\u0443",
                                          "\u043d\u0435 \u043d\u0430\u0439\u0434\u0435\u043d",
                                          "\u043d\u0435 \u0432\u0438\u0434\u043d\u043e",
                                          "\u65e0\u6cd5",
                                          "\u627e\u4e0d\u5230",
                                          "\u770b\u4e0d\u5230",
                                          "\u672a\u627e\u5230",
                                          "\u6ca1\u627e\u5230",
                                          "\u6ca1\u6709\u627e\u5230",
                                          "\u6ca1\u6709\u770b\u5230",
                                          "\u4e0d\u80fd\u627e\u5230",
                                          "\u4e0d\u80fd\u8bc6\u522b",
                                          "\u4e0d\u80fd\u786e\u5b9a",
                                          "\u56fe\u4e2d\u6ca1\u6709",
                                          "\u56fe\u7247\u4e2d\u6ca1\u6709",
                                          "\u56fe\u50cf\u4e2d\u6ca1\u6709",
                                          "\u4e0d\u5b58\u5728",
                                          "\u672a\u53d1\u73b0",
                                          "\u6ca1\u6709\u53d1\u73b0",
                                          "\u4e0d\u53ef\u89c1",
                                          "\u6ca1\u6709\u76ee\u6807",
                                          "\u753b\u9762\u4e2d\u6ca1\u6709",
                                          "\u5c4f\u5e55\u4e0a\u6ca1\u6709",
                                          "\u754c\u9762\u4e2d\u6ca1\u6709",
                                          "\u672a\u80fd",
                                          "\u898b\u3064\u304b\u308a\u307e\u305b\u3093",
                                          "\u898b\u3048\u307e\u305b\u3093",
                                          "\ucc3e\uc744 \uc218 \uc5c6",
                                          "\ubcf4\uc774\uc9c0 \uc54a"};

using Words = std::vector<std::string_view>;

template <typename List>
bool any_within(const Words& words, std::size_t from, std::size_t count, const List& list) {
  for (std::size_t i = from; i < std::min(words.size(), from + count); ++i)
    if (is_among(words[i], list)) return true;
  return false;
}

bool denies(std::string_view word) { return is_among(word, kInabilities) || word.ends_with("n't"); }

// "cannot find", "is not visible", "does not contain" of a picture.
bool says_unseen(const Words& words) {
  constexpr std::string_view kHolding[] = {"contain", "show", "include", "have", "depict"};
  constexpr std::string_view kIn[] = {"in", "on"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!denies(words[i])) continue;
    if (any_within(words, i + 1, 4, kSeeing) || any_within(words, i + 1, 2, kBeing)) return true;
    if (any_within(words, i + 1, 1, kIn) && any_within(words, i + 2, 2, kPictures)) return true;
    if (any_within(words, i + 1, 1, kHolding) && any_within(words, 0, i, kPictures)) return true;
  }
  return false;
}

// "But no dog": the whole clause is the thing that is not there.
bool is_none_alone(const Words& words) {
  constexpr std::size_t kMostWords = 5;
  constexpr std::string_view kVerbs[] = {"is", "are", "was", "were", "has", "matter"};
  return words.size() > 2 && words.size() <= kMostWords &&
         is_among(words[0], std::initializer_list<std::string_view>{"but", "and"}) && words[1] == "no" &&
         !any_within(words, 2, words.size(), kVerbs) && std::none_of(words.begin(), words.end(), has_digit);
}

// "No dog, only a cat at ..": the place belongs to another thing.
bool has_another_only(const Words& words) {
  for (std::size_t i = 2; i < std::min<std::size_t>(words.size(), 6) && words[0] == "no"; ++i)
    if ((words[i] == "only" || words[i] == "just") &&
        any_within(words, i + 1, 1, std::initializer_list<std::string_view>{"a", "an", "the"}))
      return true;
  return false;
}

// "The dog is missing.", "is absent from the picture", in a sentence without numbers.
bool says_absent(const Words& words) {
  if (std::any_of(words.begin(), words.end(), has_digit)) return false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] != "missing" && words[i] != "absent") continue;
    const bool ends = i + 1 == words.size() || words[i + 1] == "from" || words[i + 1] == "in" || words[i + 1] == "on";
    if (ends && (words[i - 1] == "is" || words[i - 1] == "are" || words[i - 1] == "seems")) return true;
  }
  return false;
}

// "There is no dog", "I see no dog", "No dog.", "Nothing found."
bool says_none(const Words& words) {
  constexpr std::string_view kFirst[] = {"none", "nothing"};
  constexpr std::string_view kBefore[] = {"is",   "are", "there's", "see",      "found",
                                          "find", "was", "were",    "contains", "shows"};
  if (words.empty()) return false;
  const bool digits = std::any_of(words.begin(), words.end(), has_digit);
  if (words[0] == "no" && words.size() > 1 && words.size() < 9 && !digits) return true;
  if (is_among(words[0], kFirst) && words.size() < 6 && !digits) return true;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (words[i] == "no" && is_among(words[i - 1], kBefore)) return true;
  for (std::size_t i = 2; i < words.size(); ++i)
    if (words[i - 2] == "there" && (words[i - 1] == "isn't" || words[i - 1] == "aren't")) return true;
  for (std::size_t i = 2; i < words.size(); ++i)
    if (words[i - 2] == "there" && words[i] == "not") return true;
  return false;
}

bool refuses(std::string_view lower, const Words& words) {
  if (contains_any(lower, std::initializer_list<std::string_view>{"\":", "':"})) return false;
  if (has_another_only(words)) return true;
  if (any_within(words, 0, words.size(), kExcuses) || is_among("if", words)) return false;
  return says_unseen(words) || says_none(words) || is_none_alone(words) || says_absent(words) ||
         contains_any(lower, kNotFound);
}

bool gives_example(std::string_view lower) {
  constexpr std::string_view kExamples[] = {
      "for example",    "an example",   "as example",     "e.g.",
      "for instance",   "example:",     "example output", "example format",
      "example answer", "example box",  "sample output",  "\u4f8b\u5982",
      "\u6bd4\u5982",   "\u793a\u4f8b", "zum beispiel",   "z. b.",
      "par exemple",    "por ejemplo",  "per esempio",    "\u043d\u0430\u043f\u0440\u0438\u043c\u0435\u0440"};
  return has_digit(lower) && contains_any(lower, kExamples);
}

// --- After a refusal ---

constexpr std::string_view kCommon[] = {
    "the",       "this",   "that",     "any",      "there",  "image",  "picture", "photo", "screen",    "screenshot",
    "sorry",     "cannot", "can't",    "couldn't", "unable", "find",   "locate",  "see",   "identify",  "not",
    "visible",   "found",  "and",      "with",     "from",   "for",    "you",     "don't", "described", "you're",
    "what",      "your",   "have",     "are",      "isn't",  "was",    "does",    "but",   "present",   "shown",
    "page",      "here",   "such",     "seem",     "seems",  "detect", "spot",    "able",  "looking",   "asked",
    "requested", "given",  "provided", "scene",    "could",  "no",     "i'm",     "i",     "to",        "a",
    "an",        "is",     "in",       "of",       "it",     "at",     "on",      "be",    "or",        "as",
    "by",        "if",     "so",       "me",       "my",     "we",     "do",      "did"};
constexpr std::string_view kGeneral[] = {
    "icon",   "button", "element",     "object", "item",     "target", "area",   "field", "bar",    "app",
    "thing",  "option", "menu",        "one",    "location", "box",    "tab",    "link",  "region", "person",
    "center", "centre", "coordinates", "left",   "right",    "top",    "bottom", "text",  "label"};
constexpr std::string_view kMarkers[] = {
    "however",       "but",      "nevertheless", "nonetheless", "though",    "although", "guess",         "estimate",
    "estimated",     "answer",   "likely",       "probably",    "possibly",  "should",   "best",          "actually",
    "wait",          "click",    "tap",          "so",          "therefore", "thus",     "i'd",           "i'll",
    "based",         "assuming", "target",       "again",       "closer",    "closely",  "approximately", "approximate",
    "approximation", "still",    "it's",         "final",       "closest",   "would"};
constexpr std::string_view kIndefinite[] = {"likely", "possible",  "rough",     "reasonable", "good",     "best",
                                            "close",  "plausible", "guess",     "box",        "bounding", "point",
                                            "region", "match",     "candidate", "location",   "position", "partial"};
constexpr std::string_view kChineseMarkers[] = {
    "\u4f46", "\u4e0d\u8fc7", "\u53ef\u80fd", "\u5927\u6982", "\u5e94\u8be5", "\u4f30\u8ba1", "\u7136\u800c",
    "\u5b83", "\u6240\u4ee5", "aber ",        "pero ",        "mais ",        "\u043d\u043e "};

// The words of a refusal that name the target: the specific ones, else the general ones.
std::vector<std::string> sought(const Words& words) {
  std::vector<std::string> special, general;
  for (const std::string_view word : words) {
    if (word.size() < 2 || is_among(word, kCommon) || word.ends_with("n't")) continue;
    (is_among(word, kGeneral) ? general : special).emplace_back(word);
  }
  return special.empty() ? general : special;
}

// "a cat is at", "the only animal is": the sentence names something other than the target.
bool names_other(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "only") return true;
    if ((words[i] == "a" || words[i] == "an") && !any_within(words, i + 1, 1, kIndefinite)) return true;
  }
  return false;
}

// May a sentence after a refusal still give the place?
bool gives_after_all(std::string_view unit, const Words& words, const std::vector<std::string>& sought_words) {
  if (stands_alone(unit)) return true;
  for (const std::string_view word : words)
    if (is_among(word, sought_words)) return true;
  if (names_other(words)) return false;
  const bool it = words.size() > 1 && words[0] == "it";
  return it || any_within(words, 0, words.size(), kMarkers) || contains_any(unit, kChineseMarkers);
}

bool is_firm(std::string_view unit, std::string_view lower) {
  constexpr std::string_view kAnswers[] = {"answer", "final", "\u7b54\u6848"};
  return stands_alone(unit) || (has_digit(lower) && contains_any(lower, kAnswers));
}

// The units that may give the place. A refusal removes the earlier ones that are not firm.
class KeptUnits {
 public:
  void add(std::string_view unit) {
    const std::string lower = to_lower(unit.substr(0, kMostRead));
    const Words words = words_of(lower);
    if (refuses(lower, words)) {
      units_.erase(std::remove_if(units_.begin() + static_cast<std::ptrdiff_t>(all_firm_), units_.end(),
                                  [](const Unit& one) { return !one.firm; }),
                   units_.end());
      all_firm_ = units_.size();
      refused_ = true;
      sought_ = sought(words);
    } else if (!gives_example(lower) && (!refused_ || !has_digit(unit) || gives_after_all(unit, words, sought_))) {
      units_.push_back({unit, is_firm(unit, lower)});
    }
  }
  std::string text() const {
    std::string text;
    for (const Unit& unit : units_) text += unit.text;
    return text;
  }

 private:
  struct Unit {
    std::string_view text;
    bool firm;
  };
  std::vector<Unit> units_;
  std::size_t all_firm_ = 0;  // number of units at the front known to be firm
  bool refused_ = false;
  std::vector<std::string> sought_;
};

}  // namespace

std::string without_refusals(std::string_view plain) {
  const std::string_view start = trim(plain);
  if (start.starts_with('{') || start.starts_with("[{") || !contains_any(plain, kHints)) return std::string(plain);
  KeptUnits kept;
  for (std::size_t at = 0; at < plain.size();) {
    const std::string_view unit = plain.substr(at, unit_end(plain, at) - at);
    at += unit.size();
    kept.add(unit);
  }
  return kept.text();
}

}  // namespace agon::env
