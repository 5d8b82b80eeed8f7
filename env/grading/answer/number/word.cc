#include "env/grading/answer/number/word.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"

namespace agon::env {
namespace {

constexpr std::size_t kLongest = 160, kMostUnitWords = 3;

constexpr std::string_view kSmall[] = {"zero",     "one",     "two",     "three",     "four",     "five",    "six",
                                       "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                                       "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::string_view kTens[] = {"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::string_view kIntroductions[] = {"there are ", "there is ",  "i see ", "i can see ",
                                               "i count ",   "i counted ", "it is ", "it's ",
                                               "exactly ",   "about ",     "only ",  "a total of "};
// Words after a number that make it another number, or not an answer.
constexpr std::string_view kNoUnits[] = {
    "of",    "and",    "or",     "are",    "is",    "to",     "but",     "more",     "less",     "fewer", "than",
    "half",  "halves", "third",  "thirds", "fifth", "fifths", "quarter", "quarters", "fourths",  "out",   "times",
    "plus",  "minus",  "by",     "point",  "over",  "not",    "at",      "if",       "when",     "who",   "that",
    "which", "have",   "has",    "in",     "on",    "with",   "from",    "hundred",  "thousand", "per",   "thing",
    "sixth", "eighth", "tenths", "tenth",  "day",   "moment", "cannot",  "can",      "should",   "must"};

template <typename Words>
std::optional<int> place_among(std::string_view word, const Words& words) {
  const auto found = std::find(std::begin(words), std::end(words), word);
  return found == std::end(words) ? std::nullopt : std::optional(static_cast<int>(found - std::begin(words)));
}

std::string_view letters_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_word_byte(text[end])) ++end;
  return text.substr(at, end - at);
}

// Adds one number word after another, as long as they continue the same number.
class WordSum {
 public:
  bool add(std::string_view word) {
    if (const auto small = place_among(word, kSmall)) return add_small(*small);
    if (const auto tens = place_among(word, kTens)) return part_ % 100 == 0 && !zero_ && put(20 + 10 * *tens);
    if (word == "hundred" && part_ > 0 && part_ < 100) return scale_part(100);
    if (word != "thousand" || part_ == 0 || thousands_ > 0) return false;
    thousands_ = part_;
    part_ = 0;
    return true;
  }
  int value() const { return 1000 * thousands_ + part_; }

 private:
  bool put(int value) {
    part_ += value;
    return true;
  }
  bool scale_part(int by) {
    part_ *= by;
    return true;
  }
  bool add_small(int small) {
    const bool first = part_ == 0 && thousands_ == 0 && !zero_;
    const int last = part_ % 100;
    const bool fits = first || (small > 0 && !zero_ && (last == 0 || (last >= 20 && last % 10 == 0 && small < 10)));
    zero_ = zero_ || (fits && small == 0);
    return fits && put(small);
  }
  int thousands_ = 0, part_ = 0;
  bool zero_ = false;
};

bool is_unit(std::string_view rest) {
  const std::vector<std::string> words = split_words(rest);
  return words.size() <= kMostUnitWords && std::all_of(words.begin(), words.end(), [](const std::string& word) {
           const std::string_view bare = letters_at(word, 0);
           return !place_among(bare, kNoUnits) && !place_among(bare, kSmall) && !place_among(bare, kTens) &&
                  word.find_first_of("0123456789+/*=<>") == word.npos;
         });
}

// Words before a number by which it is not a count, or that deny or bound it.
constexpr std::string_view kNoCounts[] = {"not",   "no", "least", "most",   "than", "over",
                                          "under", "or", "nor",   "number", "up",   "about"};

constexpr std::string_view kWhere[] = {"on", "in", "at", "near", "under", "behind", "to", "is", "with"};

// Do the words next to the number word at `at` show that it counts something?
bool is_count(const std::vector<std::string_view>& words, std::size_t at, std::string_view next) {
  const std::string_view before = at > 0 ? words[at - 1] : std::string_view();
  const bool where = next == "in" || next == "on" || next == "at" || next == "with";
  const bool pronoun =
      words[at] == "one" && before != "is" && before != "only" && before != "exactly" && before != "see";
  return !pronoun && !place_among(before, kNoCounts) && (where || !place_among(next, kNoUnits));
}

// Does a lower-case sentence count zero: "There are no dogs in the image.", "I see no dogs.", "No dogs are visible.",
// "There aren't any dogs."?
bool counts_none(std::string_view lower) {
  constexpr std::string_view kUncounted[] = {
      "data",     "information", "way",    "answer", "number", "numbers", "label",   "labels",  "value",
      "values",   "such",        "more",   "other",  "need",   "doubt",   "mention", "clear",   "enough",
      "evidence", "indication",  "longer", "idea",   "clue",   "one",     "answers", "problem", "worries"};
  constexpr std::string_view kNone[] = {
      "there are no ",      "there is no ",     "i see no ",         "i can see no ", "there aren't any ",
      "there are not any ", "i don't see any ", "i do not see any ", "shows no ",     "contains no ",
      "depicts no ",        "has no ",          "there were no ",    "there's no "};
  std::size_t behind = lower.starts_with("no ") ? 3 : 0;
  for (const std::string_view words : kNone)
    if (const std::size_t at = lower.find(words); at != lower.npos) behind = at + words.size();
  const std::string_view counted = letters_at(lower, behind);
  return behind > 0 && !counted.empty() && !is_among(counted, kUncounted);
}

// Does a single lower-case sentence say that the count is none: "None", "None of the 5 bars is above 10."?
bool begins_with_none(std::string_view lower) {
  const std::string_view said = lower.substr(0, lower.find_last_not_of(" .!") + 1);
  if (said == "none") return true;
  constexpr std::string_view kOther[] = {";",      ", ",     ". ",      " but ",  " except", "above.", "answer",
                                         "option", "choice", "correct", " right", "value",   "data",   "information"};
  return starts_with_any(said,
                         std::initializer_list<std::string_view>{"none of ", "none are ", "none is ", "none have "}) &&
         !contains_any(lower, kOther);
}

std::string_view behind_introductions(std::string_view text) {
  for (int i = 0; i < 2; ++i)
    for (const std::string_view words : kIntroductions)
      if (text.starts_with(words)) text.remove_prefix(words.size());
  return text;
}

}  // namespace

bool is_none_of_them(std::string_view plain) {
  return plain.size() <= kLongest && begins_with_none(ascii_lower(plain));
}

std::optional<std::string> number_words_in_digits(std::string_view plain) {
  if (plain.empty() || plain.size() > kLongest || plain.find('\n') != plain.npos) return {};
  const std::string lower = ascii_lower(plain);
  std::string_view text = behind_introductions(lower);
  const bool negative = text.starts_with("minus ") || text.starts_with("negative ");
  if (negative) text.remove_prefix(text.find(' ') + 1);
  WordSum sum;
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word = letters_at(text, at);
    const bool joins = word == "and" && end > 0;
    if (!joins && !sum.add(word)) break;
    at += word.size();
    if (!joins) end = at;
    if (at < text.size() && (text[at] == ' ' || text[at] == '-')) ++at;
  }
  if (end == 0 || !is_unit(text.substr(end))) return {};
  return fmt::format("{}{}{}", negative ? "-" : "", sum.value(), text.substr(end));
}

std::optional<std::string> only_number_in_words(std::string_view plain) {
  if (plain.size() > kLongest || plain.find_first_of("0123456789\n") != plain.npos) return {};
  const std::string lower = ascii_lower(plain.substr(0, plain.find(": ")));
  const std::vector<std::string_view> words = words_in(lower, "");
  std::optional<int> only;
  for (std::size_t at = 0; at < words.size(); ++at) {
    WordSum sum;
    std::size_t end = at;
    while (end < words.size() && sum.add(words[end])) ++end;
    if (end == at) continue;
    const std::string_view next = end < words.size() ? words[end] : std::string_view();
    // "one of whom", "two of them", "one on the couch": parts of what was counted
    const bool whom = only && (next == "of" || (words[at] == "one" && is_among(next, kWhere)));
    if (!whom && (!is_count(words, at, next) || (only && *only != sum.value()))) return {};
    if (!whom) only = sum.value();
    at = end - 1;
  }
  if (!only && counts_none(lower)) return "0";
  return only ? std::optional(fmt::format("{}", *only)) : std::nullopt;
}

}  // namespace agon::env
