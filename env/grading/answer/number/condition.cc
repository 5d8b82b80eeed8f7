#include "env/grading/answer/number/condition.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "core/text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

using Words = std::initializer_list<std::string_view>;

constexpr std::size_t kReach = 80, kMostNumbers = 24, kLongestCondition = 600;

// May stand before the first clause of a sentence.
constexpr std::string_view kConnections[] = {"so",   "thus", "hence",         "therefore", "and",     "then",
                                             "also", "but",  "in conclusion", "finally",   "overall", "in other words"};
// Beginnings of a condition that ends at a comma.
constexpr std::string_view kLeading[] = {
    "after",    "before",  "in",       "at",    "for",     "with",    "from",   "between",     "over",     "within",
    "during",   "of",      "out of",   "since", "if",      "when",    "given",  "assuming",    "because",  "among",
    "by",       "on",      "once",     "as",    "while",   "per",     "unlike", "considering", "starting", "although",
    "compared", "reading", "based on", "using", "despite", "without", "minus",  "besides",     "im",       "nach"};
// Beginnings of a comparison that ends with the sentence.
constexpr std::string_view kTails[] = {" compared ",     " instead of ", " rather than ", " versus ",    " as opposed ",
                                       ", followed by ", ", up from ",   ", down from ",  ", ahead of ", ", behind ",
                                       ", whereas ",     " whereas ",    ", while ",      ", unlike ",   ", after ",
                                       " up from ",      " down from "};
// Before a number, these make it a condition.
constexpr std::string_view kPrepositions[] = {
    "after", "before", "in",          "at",    "for",   "with", "from",  "between", "within", "during",
    "of",    "out",    "since",       "than",  "per",   "when", "if",    "over",    "below",  "above",
    "under", "every",  "each",        "until", "among", "on",   "aged",  "ages",    "age",    "across",
    "minus", "past",   "subtracting", "en",    "im",    "jahr", "desde", "depuis",  "seit",   "nach"};
// Before such a preposition, these make the number the answer: "stands at 45", "ends up with 30", "results in 12".
constexpr std::string_view kGiving[] = {
    "stands",    "stood",  "stays", "stayed", "remains",  "remained",  "peaks",      "peaked",  "peaking",   "priced",
    "valued",    "is",     "are",   "was",    "were",     "sits",      "arrives",    "arrived", "estimated", "ends",
    "ended",     "aligns", "left",  "up",     "her",      "him",       "them",       "us",      "me",        "you",
    "leads",     "lead",   "led",   "tops",   "accounts", "accounted", "sold",       "sells",   "results",   "resulted",
    "resulting", "pay",    "pays",  "paid",   "costs",    "bought",    "accounting", "starts",  "leading",   "that's"};
// May stand between a preposition and its number.
constexpr std::string_view kBetween[] = {
    "the",     "a",     "an",    "its",   "their",  "his",    "her",    "all",           "every",
    "each",    "those", "these", "about", "around", "only",   "just",   "approximately", "roughly",
    "another", "other", "first", "last",  "us",     "nearly", "almost", "small"};
// "the 3 friends": a number that the question gave.
constexpr std::string_view kDeterminers[] = {"the", "those", "these", "all", "its", "their", "his", "her", "every"};
constexpr std::string_view kLabels[] = {
    "week",     "day",    "year",    "month",  "grade",   "level",     "round",   "room",      "item",       "number",
    "row",      "column", "group",   "class",  "bus",     "line",      "team",    "stage",     "trial",      "phase",
    "game",     "option", "version", "type",   "model",   "player",    "train",   "flight",    "route",      "gate",
    "lesson",   "iphone", "windows", "apollo", "quarter", "q1",        "q2",      "q3",        "q4",         "january",
    "february", "march",  "april",   "may",    "june",    "july",      "august",  "september", "october",    "november",
    "december", "case",   "station", "lane",   "house",   "apartment", "channel", "scenario",  "experiment", "series"};
constexpr std::string_view kOfThose[] = {" of which", " of them", " of these", " of those", " of whom"};

struct Span {
  std::size_t begin = 0, end = 0;
};

// Digits with the signs and letters that join them: 1,234.5, 3/4, 18-29, 5B, 6.67e-11.
Span number_span_at(std::string_view text, std::size_t at) {
  const auto goes_on = [&](std::size_t place) { return place + 1 < text.size() && is_digit(text[place + 1]); };
  std::size_t end = at;
  while (end < text.size() &&
         (is_digit(text[end]) ||
          (end > at && goes_on(end) && std::string_view(",.:/-'^").find(text[end]) != std::string_view::npos)))
    ++end;
  while (end < text.size() && is_letter(text[end])) ++end;
  if (end > at + 1 && text[end - 1] == 'e' && end < text.size() && text[end] == '-' && goes_on(end)) {
    ++end;
    while (end < text.size() && is_digit(text[end])) ++end;
  }
  return {at, end};
}

std::vector<Span> numbers_in(std::string_view text) {
  std::vector<Span> numbers;
  for (std::size_t at = 0; at < text.size() && numbers.size() < kMostNumbers; ++at) {
    if (!is_digit(text[at])) continue;
    const Span number = number_span_at(text, at);
    if (at == 0 || !is_letter(text[at - 1])) numbers.push_back(number);  // not Q1, x2
    at = number.end;
  }
  return numbers;
}

// Takes the last word off a text and returns it; empty if a mark follows the word.
std::string_view take_last_word(std::string_view& text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 && (is_word_byte(text[begin - 1]) || text[begin - 1] == '\'')) --begin;
  const std::string_view word = text.substr(begin);
  text = text.substr(0, begin);
  return word;
}

// Where the first clause of a lower-case sentence begins, after "So, " and the like.
std::size_t behind_connections(std::string_view lower) {
  std::size_t at = std::min(lower.find_first_not_of(" #*"), lower.size());
  for (int i = 0; i < 2; ++i)
    for (const std::string_view word : kConnections)
      if (starts_with_word(lower.substr(at), word))
        at = std::min(lower.find_first_not_of(", ", at + word.size()), lower.size());
  return at;
}

// The condition at the front of a sentence, with its comma: "After 5 years, ".
Span leading_condition(std::string_view lower) {
  const std::size_t begin = behind_connections(lower);
  if (!starts_with_any_word(lower.substr(begin), kLeading)) return {};
  const std::size_t comma = lower.find(", ", begin);
  if (comma == lower.npos || !has_digit(lower.substr(begin, comma - begin))) return {};
  return {begin, comma + 2};
}

Span tail(std::string_view lower) {
  std::size_t first = lower.npos;
  for (const std::string_view words : kTails) first = std::min(first, lower.find(words));
  for (const std::string_view word : {" after ", " before "}) {
    const std::size_t at = lower.find(word);
    if (at == lower.npos) continue;
    const std::string_view next = lower.substr(at + word.size());
    if (next.substr(0, next.find(' ')).ends_with("ing")) first = std::min(first, at);  // "after giving away 6"
  }
  return first == lower.npos || !has_digit(lower.substr(0, first)) ? Span{} : Span{first, lower.size()};
}

bool is_year(std::string_view word) {
  return word.size() == 4 && (word.starts_with("19") || word.starts_with("20")) && is_digit(word[2]) &&
         is_digit(word[3]);
}

bool is_name(std::string_view before, std::string_view word) {
  if (is_among(word, kLabels)) return before.ends_with(' ');
  return before.ends_with('-') && before.size() > 1 && is_letter(before[before.size() - 2]);  // Covid-19
}

// "6 more than Ana", "15 mph faster than", "3 times as many", "2 of which are green".
bool compares_or_parts(std::string_view behind) {
  if (starts_with_any(behind, kOfThose)) return true;
  for (const std::string_view factor : {" times as ", " times the ", " times more "})
    if (behind.starts_with(factor)) return true;
  const std::string_view reach = behind.substr(0, std::min(behind.find_first_of(".,;"), kReach));
  const std::size_t than = reach.find(" than ");
  return than != reach.npos && std::count(reach.begin(), reach.begin() + static_cast<std::ptrdiff_t>(than), ' ') <= 4;
}

// Does "of" make the number after it the whole of a part ("of the 9", "3 of 9", "4 packs of 6"), rather than an amount
// ("a total of 9")?
bool parts_of(std::string_view between, std::string_view before) {
  const std::string_view word = take_last_word(before), counted = take_last_word(before);
  return is_among(between, kDeterminers) || word.empty() || word == "out" || has_digit(word) || has_digit(counted);
}

// Do the words in `before` make the next number a condition?
bool stands_behind_preposition(std::string_view before, bool first) {
  std::string_view rest = last_bytes(before, kReach);
  while (!rest.empty() && (rest.back() == '$' || rest.back() == ' ' || static_cast<unsigned char>(rest.back()) >= 0x80))
    rest.remove_suffix(1);
  std::string_view word = take_last_word(rest), between;
  for (int i = 0; i < 2 && is_among(word, kBetween); ++i) {
    between = word;
    word = take_last_word(rest);
  }
  if (!is_among(word, kPrepositions)) {
    std::string_view verb = rest;
    return !first && !word.empty() && take_last_word(verb) == "to" && word != "total" && !has_digit(word);
  }
  std::string_view left = rest;
  const std::string_view governing = take_last_word(left);
  const bool peak = word == "at" && is_year(governing);    // "peaked in 2012 at 1.06 billion"
  const bool rate = word == "in" && has_digit(governing);  // "1 in 4"
  if (is_among(governing, kGiving) || peak || rate) return false;
  if (word == "of") return parts_of(between, rest);
  if (word == "with" || word == "for") return !first || governing.empty();
  return true;
}

// Is the text between two numbers "to", "and", "-" or the like?
bool is_range(std::string_view between) {
  const std::string_view word = trim(between);
  return word == "to" || word == "and" || word == "bis" || word == "a" || word == "-";
}

// The unit of a number: the $ before it and the word after it.
std::string unit_of(std::string_view lower, Span number) {
  std::string unit(number.begin > 0 && lower[number.begin - 1] == '$' ? 1 : 0, '$');
  const std::string_view after = lower.substr(number.end);
  const std::size_t word = after.starts_with(' ') ? 1 : 0;
  unit += after.substr(word, after.find_first_of(" ,.;", word) - word);
  return unit;
}

// "$0.64, or 64 cents": the same in another unit.
bool restates(std::string_view lower, Span earlier, Span number) {
  const std::string_view between = lower.substr(earlier.end, number.begin - earlier.end);
  const std::size_t comma = between.rfind(", or ");
  if (comma == between.npos || between.size() - comma > 16) return false;
  const std::string first = unit_of(lower, earlier), second = unit_of(lower, number);
  return !first.empty() && !second.empty() && first != second;
}

// Is a number after `before` in brackets, other than a second guess ("12 (or maybe 13)")?
bool is_bracketed(std::string_view before) {
  const std::size_t open = before.rfind('('), close = before.rfind(')');
  if (open == before.npos || (close != before.npos && close > open)) return false;
  return !starts_with_any(before.substr(open + 1), Words{"or ", "maybe", "possibly", "perhaps"});
}

// The role of a number in its sentence, from the most likely answer to the least likely one.
enum class Role { value, share, condition, compared };

bool is_within(Span part, Span whole) { return part.begin >= whole.begin && part.end <= whole.end; }

// Is a number of a lower-case sentence a condition, judged by itself and the words next to it?
bool is_condition(std::string_view lower, Span number, std::string_view last, bool first) {
  const std::string_view before = lower.substr(0, number.begin), after = lower.substr(number.end);
  const std::string_view digits = lower.substr(number.begin, number.end - number.begin);
  const bool ordinal = ends_with_any(digits, Words{"st", "nd", "rd", "th"});
  return ordinal || (is_year(digits) && last == "in") || is_name(before, last) || compares_or_parts(after) ||
         stands_behind_preposition(before, first);
}

// "25% of the 80", "2/5 of", "(35%)", "the 3 friends": not the answer if another number is left.
bool is_share(std::string_view lower, Span number, std::string_view last) {
  const std::string_view after = lower.substr(number.end);
  const bool fraction = lower.substr(number.begin, number.end - number.begin).find('/') != lower.npos;
  return is_bracketed(lower.substr(0, number.begin)) || is_among(last, kDeterminers) || after.starts_with("% of ") ||
         (fraction && after.starts_with(" of "));
}

std::vector<Role> roles_of(std::string_view lower, const std::vector<Span>& numbers) {
  const Span leading = leading_condition(lower), compared = tail(lower);
  std::vector<Role> roles;
  bool from = false;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Span number = numbers[i], earlier = i > 0 ? numbers[i - 1] : Span{};
    std::string_view words = last_bytes(lower.substr(0, number.begin), kReach);
    const std::string_view last = take_last_word(words);
    const bool ends_range =
        i > 0 && roles.back() >= Role::condition && is_range(lower.substr(earlier.end, number.begin - earlier.end));
    Role role = (from && last == "to") || is_share(lower, number, last) ? Role::share : Role::value;
    if (is_within(number, leading) || ends_range || is_condition(lower, number, last, i == 0) ||
        (i > 0 && restates(lower, earlier, number)))
      role = Role::condition;
    roles.push_back(is_within(number, compared) ? Role::compared : role);
    from = from || last == "from";
  }
  return roles;
}

void leave_out_conditions(std::string& sentence) {
  const std::string lower = ascii_lower(sentence);
  const std::vector<Span> numbers = numbers_in(lower);
  if (numbers.size() < 2) return;
  const std::vector<Role> roles = roles_of(lower, numbers);
  const Role least = *std::min_element(roles.begin(), roles.end());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    for (std::size_t at = numbers[i].begin; at < numbers[i].end && roles[i] != least; ++at)
      if (!is_letter(sentence[at])) sentence[at] = ' ';
}

// The sentence that begins at `at`, with its mark.
std::string_view sentence_at(std::string_view text, std::size_t at) {
  for (std::size_t end = at; end < text.size(); ++end) {
    const bool mark = text[end] == '.' || text[end] == '!' || text[end] == '?' || text[end] == ';';
    if (text[end] == '\n' || (mark && (end + 1 == text.size() || text[end + 1] == ' ' || text[end + 1] == '\n')))
      return text.substr(at, end + 1 - at);
  }
  return text.substr(at);
}

// "x = 3" after "at", "when" and the like, with that word and a verb before it ("reached at"). `at`: the place of "=".
Span place_of_variable(std::string_view lower, std::size_t at) {
  std::string_view before = lower.substr(0, at);
  const std::string_view name = take_last_word(before);
  if (name.empty() || name.size() > 2) return {};
  std::string_view left = before;
  if (left.ends_with("\u5f53") || left.ends_with("\u5f53 "))
    left = left.substr(0, left.rfind("\u5f53"));
  else if (!is_among(take_last_word(left), Words{"at", "when", "for", "if", "where"}))
    return {};
  std::string_view verb = left;
  if (is_among(take_last_word(verb), Words{"attained", "achieved", "reached", "occurring", "obtained"})) left = verb;
  std::size_t end = std::min(lower.find_first_not_of(" -", at + 1), lower.size());
  if (end == lower.size() || !is_digit(lower[end])) return {};
  return {left.size(), number_span_at(lower, end).end};
}

// Does a number that is not the side of an equation end `before`? Or does `behind` give one after a comma?
bool tells_value(std::string_view before, std::string_view behind) {
  const std::string_view said = last_bytes(before, kReach);
  std::size_t end = said.size();
  while (end > 0 && std::string_view(" ,").find(said[end - 1]) != std::string_view::npos) --end;
  std::size_t begin = end;
  while (begin > 0 && (is_digit(said[begin - 1]) || said[begin - 1] == '.' || said[begin - 1] == '-')) --begin;
  if (begin < end) return !trim(said.substr(0, begin)).ends_with('=');
  const bool leads = trim(before).empty() || ends_with_any(trim(before), Words{".", "\n", ":", "so", "so,"});
  return leads && behind.starts_with(',') && has_digit(cut_text(behind, kReach));
}

}  // namespace

std::string without_conditions(std::string_view plain) {
  std::string kept;
  for (std::size_t at = 0; at < plain.size();) {
    const std::string_view said = sentence_at(plain, at);
    std::string sentence(said);
    if (said.size() < kLongestCondition) leave_out_conditions(sentence);
    kept += sentence;
    at += said.size();
  }
  return kept;
}

std::string without_places_of_variables(std::string_view plain) {
  const std::string lower = ascii_lower(plain);
  std::string kept(plain);
  std::size_t removed = 0, count = 0;
  for (std::size_t at = lower.find('='); at != lower.npos && count < kMostNumbers;
       at = lower.find('=', at + 1), ++count) {
    const Span place = place_of_variable(lower, at);
    if (place.end <= place.begin) continue;
    if (!tells_value(std::string_view(lower).substr(0, place.begin), std::string_view(lower).substr(place.end)))
      continue;
    kept.erase(place.begin - removed, place.end - place.begin);
    removed += place.end - place.begin;
  }
  return kept;
}

}  // namespace agon::env
