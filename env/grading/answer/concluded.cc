#include "env/grading/answer/concluded.h"

#include <algorithm>
#include <initializer_list>
#include <set>

#include "core/text.h"
#include "env/grading/answer/missing.h"
#include "env/grading/answer/named.h"
#include "env/grading/answer/plain_text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/answer/words.h"

namespace agon::env {
namespace {

using OptionTexts = std::vector<std::string>;
using Place = std::optional<std::size_t>;

constexpr std::size_t kLongestSentence = 600, kLongestText = 4000;

// The text after one of these is a conclusion.
constexpr std::string_view kLooseCues[] = {
    "so ",       "so, ",      "thus ",    "thus, ",     "therefore ", "therefore, ", "hence ",
    "hence, ",   "daher ",    "deshalb ", "folglich ",  "donc ",      "por tanto ",  "por lo tanto ",
    "entonces ", "portanto ", "quindi ",  "dunque ",    "значит ",    "поэтому ",    "следовательно ",
    "所以",      "因此",      "よって",   "したがって", "따라서 ",    "그러므로 "};
// The option itself must follow one of these.
constexpr std::string_view kTightCues[] = {"it's",
                                           "it is",
                                           "it must be",
                                           "must be",
                                           "this is",
                                           "that's",
                                           "is therefore",
                                           "go with",
                                           "going with",
                                           "went with",
                                           "choose",
                                           "chose",
                                           "choosing",
                                           "pick",
                                           "picking",
                                           "select",
                                           "selecting",
                                           "settle on",
                                           "leaves",
                                           "leaving",
                                           "i.e.",
                                           "more precisely",
                                           "precisely",
                                           "specifically",
                                           "or rather",
                                           "namely",
                                           "likely",
                                           "probably",
                                           "conclusion",
                                           "conclusion is",
                                           "result",
                                           "verdict",
                                           "decision",
                                           "guess",
                                           "prediction",
                                           "final choice",
                                           "choice",
                                           "best match",
                                           "best fit",
                                           "i say",
                                           "i'd say",
                                           "asks for",
                                           "conclude that it's",
                                           "must mean",
                                           "most probable",
                                           "have to be",
                                           "has to be",
                                           "should be"};
// May stand between such a cue and the option.
constexpr std::string_view kBeforeOption[] = {
    "a ",  "an ",    "the ",    "in ",   "likely ",   "most ", "probably ", "clearly ",   "definitely ", "is ",
    "be ", "to be ", "option ", "that ", "actually ", "it's ", "it is ",    "therefore ", "just ",       "simply "};
// Before a cue, in its clause, these mean that the text does not conclude.
constexpr std::string_view kDoubts[] = {"n't ",   "not ",    "never ", "whether ", " if ",    "cannot ", "could ",
                                        "might ", "may ",    "less ",  "least ",   "second ", "third ",  "next ",
                                        "wrong ", "worst ",  "other ", "some ",    "others ", "people ", "if ",
                                        "unsure", "unless ", "many ",  "initial",  "first ",  "your "};
// Near an option, these mean that it is not the answer.
constexpr std::string_view kRuledOut[] = {"n't ",       "not ",    "no ",       "never ",     "neither ", "cannot",
                                          " out",       "wrong",   "incorrect", "eliminated", "excluded", "unlikely",
                                          "impossible", "whether", "unclear",   "unsure",     "unless",   "maybe",
                                          "either",     "none",    "less ",     "second",     "least",    "runner"};
// The beginnings of reasons, comparisons and asides in a sentence.
constexpr std::string_view kAsides[] = {
    " because",     " since ", ", as ",    " given ",      " unlike",  " followed by", " although", " though",
    " even though", " while ", " whereas", " rather than", " instead", ", not ",       " compared", " despite",
    " due to",      ", which", " than ",   " and not ",    ", with ",  " weil ",       " porque ",  " parce que "};
constexpr std::string_view kTakesBack[] = {
    "however",   "but ",   "although", "actually",      "yet ",         "so ",       "so, ",    "thus",
    "therefore", "hence",  "wait",     "correction",    "on closer",    "on second", "instead", "scratch",
    "no, ",      "sorry",  "also ",    "alternatively", "nevertheless", "answer",    "choose",  "go with",
    "edit:",     "i mean", "likely",   "hmm",           "except",       "still"};
constexpr std::string_view kHeldBack[] = {"could ", "might ",   "may ",    "maybe",     "perhaps", "looks like",
                                          "seems",  "at first", "appears", "resembles", " not ",   "n't ",
                                          "first ", "second ",  " one is", "either",    "whether", "would ",
                                          " if ",   "some ",    "between", "option",    "but "};

std::string lower_plain(std::string_view text) { return replace_all(to_lower(plain_text(text)), "\n", " "); }

bool begins_word(std::string_view text, std::size_t at) { return at == 0 || !is_word_byte(text[at - 1]); }
bool ends_word(std::string_view text, std::size_t at) {
  return at >= text.size() || !is_word_byte(text[at]) || static_cast<unsigned char>(text[at]) >= 0xE3;
}

bool holds_any(std::string_view lower, std::initializer_list<std::string_view> words) {
  return contains_any(lower, words);
}
// Does the text hold any of the words, at the beginning of a word?
template <typename Words>
bool holds_word(std::string_view lower, const Words& words) {
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view word) {
    for (std::size_t at = lower.find(word); at != lower.npos; at = lower.find(word, at + 1))
      if (!is_word_byte(word[0]) || word == "n't " || begins_word(lower, at)) return true;
    return false;
  });
}

// Does the mark at `at` end a sentence? The marks of "i.e." and "3.5" do not.
bool ends_sentence(std::string_view text, std::size_t at) {
  if (text[at] == '\n') return true;
  if (text.substr(at).starts_with("。")) return true;
  if (std::string_view(".!?;").find(text[at]) == std::string_view::npos) return false;
  const bool parted = at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\n';
  const bool short_form = text[at] == '.' && at >= 2 && (text[at - 2] == '.' || text.substr(0, at).ends_with(" vs"));
  return parted && !short_form;
}

// Sentences and lines with their marks; none is blank.
std::vector<std::string_view> sentences_of(std::string_view text) {
  std::vector<std::string_view> sentences;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && !ends_sentence(text, at)) continue;
    const std::size_t size = at < text.size() && text[at] == '\xE3' ? 3 : 1;
    const std::string_view sentence = trim(text.substr(begin, std::min(at + size, text.size()) - begin));
    if (sentence.find_first_not_of(".!?;-* ") != sentence.npos) sentences.push_back(sentence);
    begin = at + size;
  }
  return sentences;
}

std::string_view without_aside(std::string_view lower) {
  std::size_t end = lower.size();
  for (const std::string_view word : kAsides) end = std::min(end, lower.find(word, 1));
  return lower.substr(0, end);
}

Place only_named(std::string_view text, const OptionTexts& options) {
  const auto found = named_options(text, options);
  return found.named.size() == 1 ? Place(*found.named.begin()) : std::nullopt;
}

// The text with the option's own text replaced by "_".
std::string without_option(std::string_view lower, const std::string& option) {
  return replace_all(lower, lower_plain(option), "_");
}

// The longest option whose text stands at `at` as whole words.
Place option_at(std::string_view lower, std::size_t at, const OptionTexts& options) {
  Place place;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string wanted = lower_plain(options[i]);
    const bool stands = lower.substr(at).starts_with(wanted) && ends_word(lower, at + wanted.size());
    if (wanted.size() < 2 || !stands || wanted.size() <= longest) continue;
    longest = wanted.size();
    place = i;
  }
  return place;
}

std::size_t behind_fillers(std::string_view lower, std::size_t at) {
  for (int i = 0; i < 5; ++i) {
    at = std::min(lower.find_first_not_of(" :\"'(,", at), lower.size());
    for (const std::string_view word : kBeforeOption)
      if (lower.substr(at).starts_with(word)) {
        at += word.size();
        break;
      }
  }
  return at;
}

// The option at `at`, if the sentence states it as the answer: not "it's Paris that ..".
Place stated_at(std::string_view lower, std::size_t at, const OptionTexts& options) {
  const Place place = option_at(lower, at, options);
  if (!place) return {};
  const std::string_view part = without_aside(lower.substr(at));
  const std::string_view rest = part.substr(std::min(part.size(), lower_plain(options[*place]).size()));
  if (starts_with_any(rest, std::initializer_list<std::string_view>{" that ", " who ", "'s "}) ||
      holds_word(rest, kRuledOut))
    return {};
  return only_named(part, options) == place ? place : std::nullopt;
}

bool doubts_before(std::string_view lower, std::size_t at) {
  const std::size_t clause = lower.substr(0, at).find_last_of(",;:");
  const std::size_t begin = std::max(clause == lower.npos ? 0 : clause + 1, at - std::min<std::size_t>(at, 40));
  return holds_word(lower.substr(begin, at - begin), kDoubts);
}

Place behind_tight_cue(std::string_view lower, std::size_t at, const OptionTexts& options) {
  for (const std::string_view cue : kTightCues) {
    if (!lower.substr(at).starts_with(cue) || !ends_word(lower, at + cue.size())) continue;
    const std::size_t value = behind_fillers(lower, at + cue.size());
    const Place place = value > at + cue.size() ? stated_at(lower, value, options) : std::nullopt;
    if (place && !doubts_before(lower, at)) return place;
  }
  return {};
}

// The option after "so" and the like. False if that part names several or denies.
bool behind_loose_cue(std::string_view lower, std::size_t at, const OptionTexts& options, Place& place) {
  for (const std::string_view cue : kLooseCues) {
    if (!lower.substr(at).starts_with(cue)) continue;
    const std::string_view part = without_aside(lower.substr(at + cue.size()));
    const auto found = named_options(part, options);
    if (found.named.empty() && found.denied.empty()) continue;
    place = found.named.size() == 1 ? Place(*found.named.begin()) : std::nullopt;
    if (place && holds_word(without_option(part, options[*place]), kRuledOut)) place.reset();
    return place.has_value();
  }
  return true;
}

bool is_extreme(std::string_view word) {
  return word.size() > 4 && word.ends_with("est") &&
         !is_among(word, std::initializer_list<std::string_view>{"forest", "guest", "interest", "suggest", "request",
                                                                 "chest", "honest", "latest", "contest", "protest",
                                                                 "quest", "arrest", "harvest"});
}

std::vector<std::string> superlatives_of(std::string_view text) {
  std::vector<std::string> found;
  for (const std::string& word : answer_words(text))
    if ((is_extreme(word) || word == "most") && !is_among(word, found)) found.push_back(word);
  return found;
}

// "The highest is Wednesday.", if the text names no other extreme.
Place with_superlative(std::string_view sentence, std::string_view plain, const OptionTexts& options) {
  const std::string lower = lower_plain(sentence);
  const std::string_view part = without_aside(lower);
  if (superlatives_of(part).empty() || superlatives_of(plain).size() > 1) return {};
  const bool said = holds_any(part, {" is ", " was ", ": ", " has ", " had ", " on "});
  const Place place = said ? only_named(part, options) : std::nullopt;
  return place && !holds_word(without_option(part, options[*place]), kRuledOut) ? place : std::nullopt;
}

// "While Paris is larger, Berlin is the capital.", "Of red, green and blue, blue is the highest.": the only option of
// the clause after the comma.
Place behind_concession(std::string_view sentence, const OptionTexts& options) {
  constexpr std::string_view kConcessions[] = {
      "while ",   "although ",    "though ", "even though ",   "whereas ", "among ",  "out of ",   "of ",
      "between ", "compared to ", "unlike ", "compared with ", "despite ", "obwohl ", "bien que ", "aunque "};
  const std::string lower = lower_plain(sentence);
  const std::size_t comma = lower.rfind(", ");
  if (comma == lower.npos || !starts_with_any(lower, kConcessions)) return {};
  const std::string_view clause = std::string_view(lower).substr(comma + 2);
  const Place place = only_named(clause, options);
  const std::string around = place ? without_option(clause, options[*place]) : "";
  return place && !holds_word(around, kRuledOut) && !holds_word(around, kHeldBack) ? place : std::nullopt;
}

// "A positive times a negative is negative.": the option that a sentence says its subject is.
Place as_predicate(std::string_view sentence, const OptionTexts& options) {
  const std::string lower = lower_plain(sentence);
  const std::size_t verb = lower.rfind(" is ");
  if (verb == lower.npos || lower.find(" is ") != verb || lower.find_first_of(",;:") != lower.npos) return {};
  if (holds_word(lower.substr(0, verb + 1), kHeldBack) || holds_word(lower.substr(0, verb + 1), kRuledOut)) return {};
  const std::size_t value = behind_fillers(lower, verb + 4);
  const Place place = option_at(lower, value, options);
  if (!place) return {};
  const std::string_view rest = std::string_view(lower).substr(value + lower_plain(options[*place]).size());
  return behind(rest, ". !").empty() ? place : std::nullopt;
}

// --- First sentences ---

// "The city is Berlin": a verb, then the option, and nothing after it.
Place predicate_of_subject(std::string_view lower, const OptionTexts& options) {
  if (!starts_with_any(lower, std::initializer_list<std::string_view>{"the ", "this ", "it ", "it's ", "that ",
                                                                      "that's ", "in the ", "here ", "my "}))
    return {};
  for (const std::string_view verb : {" is ", " are ", " was ", " shows ", " depicts ", "'s "}) {
    const std::size_t at = lower.find(verb);
    if (at == lower.npos) continue;
    const std::size_t value = behind_fillers(lower, at + verb.size());
    const Place place = option_at(lower, value, options);
    if (!place) continue;
    const std::string_view rest = lower.substr(value + lower_plain(options[*place]).size());
    if (behind(rest, "\"'").empty() || std::string_view(".,!\"';").find(rest[0]) != std::string_view::npos)
      return place;
  }
  return {};
}

struct First {
  std::size_t place;
  bool sure;  // the option is called the answer, or stands alone
};

std::optional<First> first_given(std::string_view head, const OptionTexts& options) {
  const std::string_view said =
      trim(head.ends_with(',') || head.ends_with('.') ? head.substr(0, head.size() - 1) : head);
  const Place named = only_named(said, options);
  if (!named || said.ends_with('?')) return {};
  const std::string wanted = lower_plain(options[*named]);
  if (said == wanted) return First{*named, true};
  const std::string around = without_option(said, options[*named]);
  if (holds_word(around, kHeldBack) || holds_word(around, kRuledOut)) return {};
  const bool sure = holds_any(around, {"correct", "my answer", "right answer", "the answer", "best"});
  const bool stated = predicate_of_subject(said, options) == named;
  const bool extreme = said.starts_with(wanted + " is ") && !superlatives_of(around).empty();
  const bool called = said.starts_with(wanted + " is ") && sure;
  return stated || extreme || called ? std::optional(First{*named, sure}) : std::nullopt;
}

// Does a sentence leave the first one's option alone: it names no other, or denies?
bool leaves_alone(std::string_view sentence, const First& first, const OptionTexts& options) {
  const std::string lower = lower_plain(sentence);
  if (holds_word(lower, kTakesBack) || lower.ends_with('?')) return false;
  auto others = named_options(lower, options).named;
  others.erase(first.place);
  if (others.empty() ||
      holds_any(lower, {"not ", "n't ", " no ", "neither ", "none ", "unlike ", "wrong", "incorrect"}))
    return true;
  return first.sure && answer_words(lower).size() > 3;
}

// --- Predicates ---

constexpr std::string_view kCopulas[] = {"is",    "was",      "are",        "were",    "be",       "called",
                                         "named", "gives",    "equals",     "becomes", "it's",     "that's",
                                         "will",  "would be", "arrives at", "labeled", "labelled", "known as",
                                         "so:",   "thus:",    "therefore:", "hence:"};
constexpr std::string_view kChineseCopulas[] = {"是", "为", "叫", "即", "称为"};
constexpr std::string_view kConditions[] = {"if ",     "when ",  "since ",  "because ", "although ",
                                            "though ", "while ", "unless ", "assuming "};
constexpr std::string_view kArticles[] = {"a",  "an", "the",     "most", "likely",    "probably", "that",
                                          "of", "in", "clearly", "also", "therefore", "thus"};

constexpr std::string_view kUncertain[] = {"some ",   "others ", "first ",  "could ", "might ", "may ",  "whether ",
                                           "cannot ", "n't ",    "not ",    "never ", "wrong ", "less ", "least ",
                                           "other ",  "your ",   "second ", "next ",  "initial"};

constexpr std::string_view kRevisions[] = {"wait", "actually", "correction", "scratch", "hmm", "however", "sorry"};

// Does the text after an option end its part of the sentence?
bool ends_predicate(std::string_view rest) {
  if (behind(rest, " \"'").empty()) return true;
  for (const std::string_view mark :
       {".", ",", ";", "!", ":", "\"", "'", " (", " -", " \u2014", " because", " since", " by ", " as ", "\u3002"})
    if (rest.starts_with(mark)) return true;
  return false;
}

// Does a lower-case text end with a verb, perhaps with articles, that says that its subject is what follows?
bool ends_with_copula(std::string_view before) {
  if (ends_with_any(before, kChineseCopulas)) return !before.ends_with("还是");
  before = trim(before);
  for (int i = 0; i < 4; ++i)
    for (const std::string_view word : kArticles)
      if (ends_with_word(before, word)) before = trim(before.substr(0, before.size() - word.size()));
  while (before.ends_with('"') || before.ends_with('\'')) before = trim(before.substr(0, before.size() - 1));
  return ends_with_any_word(before, kCopulas);
}

// May an option after this text be what the sentence's subject is, without a condition, a doubt or a denial?
bool leads_to_predicate(std::string_view before, bool first) {
  const bool heading = first && before.ends_with(": ") && std::count(before.begin(), before.end(), ' ') < 4;
  if (!heading && !before.ends_with("but ") && !ends_with_copula(before)) return false;
  const std::size_t comma = before.rfind(", ");
  const std::string_view clause = comma == before.npos ? before : before.substr(comma + 2);
  return !starts_with_any(clause, kConditions) && !holds_word(clause, kUncertain) &&
         !holds_any(clause, {" if ", " not ", "n't "});
}

// Adds the options that a lower-case sentence says its subject is, or that it prefers after "but".
void add_predicates(std::string_view sentence, bool first, const OptionTexts& options, std::set<std::size_t>& said) {
  for (std::size_t at = 0; at < sentence.size(); ++at) {
    const std::string_view before = sentence.substr(0, at);
    const bool east_asian = static_cast<unsigned char>(sentence[at]) >= 0xE3;
    if ((!begins_word(sentence, at) && !east_asian) || !leads_to_predicate(before, first)) continue;
    const Place place = option_at(sentence, at, options);
    if (!place) continue;
    const std::string_view after = sentence.substr(at + lower_plain(options[*place]).size());
    if (before.ends_with("but ") ? after.starts_with(" is ") : ends_predicate(after)) said.insert(*place);
  }
}

}  // namespace

std::optional<std::size_t> concluded_by_text(std::string_view plain, const OptionTexts& options) {
  const std::vector<std::string_view> sentences = sentences_of(plain);
  if (sentences.empty() || sentences.back().ends_with('?') || sentences.back().size() > kLongestSentence) return {};
  const std::string lower = lower_plain(sentences.back());
  for (std::size_t at = lower.size(); at-- > 0;) {
    const bool east_asian = static_cast<unsigned char>(lower[at]) >= 0xE3;
    if (!begins_word(lower, at) && !east_asian) continue;
    if (const Place place = behind_tight_cue(lower, at, options)) return place;
    Place place;
    if (!behind_loose_cue(lower, at, options, place)) return {};
    if (place) return place;
  }
  if (const Place place = with_superlative(sentences.back(), plain, options)) return place;
  if (const Place place = behind_concession(sentences.back(), options)) return place;
  return sentences.size() == 1 ? as_predicate(sentences.back(), options) : std::nullopt;
}

std::optional<std::size_t> stated_first(std::string_view plain, const OptionTexts& options) {
  const std::vector<std::string_view> sentences = sentences_of(plain);
  if (sentences.empty() || plain.size() > kLongestText) return {};
  const std::string lower = lower_plain(sentences.front());
  const std::string_view head = without_aside(lower);
  const auto first = first_given(head, options);
  if (!first || lower.find(" but ") != lower.npos) return {};
  const bool alone = std::all_of(sentences.begin() + 1, sentences.end(),
                                 [&](std::string_view sentence) { return leaves_alone(sentence, *first, options); });
  return alone ? Place(first->place) : std::nullopt;
}

std::optional<std::size_t> only_predicate(std::string_view plain, const OptionTexts& options) {
  if (plain.size() > kLongestText || refuses(plain) || holds_word(lower_plain(plain), kRevisions)) return {};
  std::set<std::size_t> said;
  bool first = true;
  for (const std::string_view sentence : sentences_of(plain)) {
    const std::string lower = lower_plain(sentence);
    if (!lower.ends_with('?')) add_predicates(lower, first, options, said);
    first = false;
  }
  return said.size() == 1 ? Place(*said.begin()) : std::nullopt;
}

}  // namespace agon::env
