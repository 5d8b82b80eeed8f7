#include "env/grading/answer/choice.h"

#include <algorithm>
#include <initializer_list>

#include "core/text.h"
#include "env/grading/answer/concluded.h"
#include "env/grading/answer/denied.h"
#include "env/grading/answer/letter_mentions.h"
#include "env/grading/answer/named.h"
#include "env/grading/answer/number/meant.h"
#include "env/grading/answer/option_letter.h"
#include "env/grading/answer/option_text.h"
#include "env/grading/answer/option_verdict.h"
#include "env/grading/answer/phrases.h"
#include "env/grading/answer/plain_text.h"
#include "env/grading/answer/reason.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

// Is the option whose letter stands before `rest` called wrong: "B. cat: incorrect", "B \u274c"?
bool is_called_wrong(std::string_view rest, std::size_t place, const Options& options) {
  const std::string text = place < options.size() ? to_lower(bare(options[place])) : "";
  return denies_last(rest) || verdict_behind(rest, text, have_verdicts(options)) == OptionVerdict::wrong;
}

// "B) cat", "(B) cat", "B. cat", "B - cat", "option B", "option B, the cat".
std::optional<std::size_t> label_at_start(std::string_view text, const Options& options) {
  const std::string lower = ascii_lower(text.substr(0, 40));
  std::size_t at = 0;
  bool labelled = false;
  for (int i = 0; i < 3; ++i) {
    at = std::min(lower.find_first_not_of(" ([{\"'*:", at), lower.size());
    const std::string_view word = word_from(lower, at);
    const bool label = is_among(word, kLetterLabels);
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
    const std::vector<LetterMention> mentions = LetterMentions(text.substr(0, at + 40), options).find();
    const bool stands =
        std::any_of(mentions.begin(), mentions.end(), [&](const LetterMention& one) { return one.at == at; });
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

// Does a text name an option other than this one?
bool names_besides(std::string_view text, std::size_t place, const Options& options) {
  const std::vector<LetterMention> mentions = LetterMentions(text, options).find();
  return std::any_of(mentions.begin(), mentions.end(), [&](const LetterMention& one) { return one.place != place; });
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

// "1. A red car", then "2. A van": a list, whose first line is not the answer 1.
bool numbers_lines(std::string_view text) { return text.starts_with("1. ") && text.find("\n2. ") != text.npos; }

// "E decreases.\n\nB", "E decreases. B": a capital letter alone that ends the text.
std::optional<std::size_t> closing_letter(std::string_view text, const Options& options) {
  if (text.ends_with('.')) text.remove_suffix(1);
  const std::size_t line = text.rfind('\n'), sentence = text.rfind(". ");
  if (line == text.npos && sentence == text.npos) return {};
  const std::size_t begin = std::max(line == text.npos ? 0 : line + 1, sentence == text.npos ? 0 : sentence + 2);
  const std::string_view last = behind(text.substr(begin), kLetterMarks);
  if (begin < 8) return {};  // "D. A"
  return !last.empty() && is_capital(last[0]) ? lone_letter(last, options) : std::nullopt;
}

// "B. London" in the first of several lines: the answer, unless the lines list the options from there on.
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

std::optional<std::size_t> only_mention(const std::vector<LetterMention>& mentions) {
  Places marked, all;
  for (const LetterMention& mention : mentions) {
    all.insert(mention.place);
    if (mention.marked) marked.insert(mention.place);
  }
  return only(marked.empty() ? all : marked);
}

// The only option that the text names by its words. Of two options, the one that is left if the other is denied.
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

// The text after "it's", "the statement is" and the like.
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

// "No, it cannot be determined.": the option of several words that follows a yes or no.
std::optional<std::size_t> named_behind_verdict(std::string_view text, std::size_t verdict, const Options& options) {
  constexpr std::size_t kFewestWords = 3;
  Places named = named_options(text, options).named;
  named.erase(verdict);
  const auto place = only(named);
  const std::string words = place ? words_of(options[*place]) : "";
  return std::count(words.begin(), words.end(), ' ') + 1 >= static_cast<std::ptrdiff_t>(kFewestWords) ? place
                                                                                                      : std::nullopt;
}

bool is_yes_or_no(std::string_view lower) {
  return is_among(lower, std::initializer_list<std::string_view>{"yes", "no", "true", "false"});
}

// "Yes, line B crosses.", "Red (see region D)": an option's text, then a mark. Unless it is yes, no, true or false, the
// text may name no other option.
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
  if (is_yes_or_no(wanted)) {
    if (const auto other = named_behind_verdict(text, *place, options)) return other;
    const std::string_view next = behind(said.substr(wanted.size()), " ,;:.!");
    return options_that(options, [&](const std::string& other) { return next.starts_with(to_lower(bare(other))); })
                   .empty()
               ? place
               : std::nullopt;
  }
  const auto [named, denied] = named_options(text, options);
  return std::all_of(named.begin(), named.end(), [&](std::size_t one) { return one == *place; }) ? place : std::nullopt;
}

// The option of the capital letter with which the value of a phrase begins.
std::optional<std::size_t> first_letter(std::string_view value, const Options& options) {
  value = behind(value, "([{\"'* ");
  const std::vector<LetterMention> mentions = LetterMentions(value.substr(0, 60), options).find();
  if (mentions.empty() || mentions.front().at != 0 || names_another(value.substr(1), options)) return {};
  return mentions.front().place;
}

// "A is tempting, but B is right": the only option that a text calls right.
std::optional<std::size_t> called_right(std::string_view text, const Options& options) {
  const LetterMentions finder(text, options);
  Places right;
  for (const LetterMention& mention : finder.find())
    if (finder.is_called_right(mention)) right.insert(mention.place);
  return only(right);
}

// The option that equals the number that a text means.
std::optional<std::size_t> numbered_option(std::string_view text, const Options& options) {
  const auto said = read_number(text);
  const auto place = said ? only(with_value(*said, options)) : std::nullopt;
  return place && named_options(text, options).denied.count(*place) > 0 ? std::nullopt : place;
}

std::optional<std::size_t> phrase_choice(const Phrase& phrase, const Options& options) {
  if (const auto place = whole_choice(phrase.sentence, options)) return place;
  if (const auto place = whole_choice(phrase.value, options)) return place;
  if (const auto place = leading_option(phrase.sentence, options)) return place;
  const std::vector<LetterMention> mentions = LetterMentions(phrase.sentence, options).find();
  if (!mentions.empty() && names_another(std::string_view(phrase.sentence).substr(mentions.front().at + 1), options))
    return {};
  if (const auto place = called_right(phrase.sentence, options)) return place;
  if (const auto place = first_letter(phrase.sentence, options)) return place;
  if (const auto place = whole_choice(phrase.sentence.substr(0, phrase.sentence.find(", ")), options)) return place;
  if (!mentions.empty()) return only_mention(mentions);
  const auto number = numbered_option(phrase.sentence, options);
  return number ? number : held_option(phrase.sentence, options);
}

// "Nein, das stimmt nicht." with the options Yes and No.
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
  const std::string next = to_lower(word_from(rest, 0));
  if (is_among(next, kYes) || is_among(next, kNo) || next == "yes" || next == "no") return {};
  if (is_among(said, kYes)) return only(with_text_in_any_case("yes", options));
  return is_among(said, kNo) ? only(with_text_in_any_case("no", options)) : std::nullopt;
}

// "Yes, it is. No other answer is possible." says yes.
std::optional<std::size_t> leading_verdict_choice(std::string_view text, const Options& options) {
  std::string_view word = text.substr(0, text.find_first_of(",.;:!\n"));
  const std::string_view rest = trim(behind(text.substr(word.size()), " ,.;:!"));
  if (is_yes_or_no(ascii_lower(rest.ends_with('.') ? rest.substr(0, rest.size() - 1) : rest))) return {};  // "Yes. No."
  word = without_copula(word.substr(0, word.find("\u3001")));
  for (const std::string_view verdict :
       {"yes", "no", "true", "false", "\u662f", "\u5426", "\u5bf9", "\u9519", "\u4e0d\u662f", "\u306f\u3044",
        "\u3044\u3044\u3048", "\uc608", "\ub124", "\uc544\ub2c8\uc694", "\uc544\ub2c8\uc624"})
    if (ascii_lower(word) == verdict)
      if (const auto place = only(with_text_in_any_case(word, options))) return place;
  return foreign_verdict_choice(text, word, options);
}

// The option of a correction, which replaces all before it: in its phrase, or in a short sentence that is an option.
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

// A text that says of each option whether it is right: `choice` is the only right one. False if several are.
bool is_marked_choice(std::string_view text, const Options& options, std::optional<std::size_t>& choice) {
  const LetterMentions finder(text, options);
  Places right;
  for (const LetterMention& mention : finder.find())
    if (finder.is_marked_right(mention)) right.insert(mention.place);
  choice = only(right);
  return right.size() < 2;
}

// A text that lists the options' texts and marks each: `choice` is the only right one. False if several are right, or
// if none is and several are wrong.
bool is_listed_choice(std::string_view text, const Options& options, std::optional<std::size_t>& choice) {
  Options texts;
  for (const std::string& option : options) texts.push_back(to_lower(bare(option)));
  const auto [right, wrong] = listed_verdicts(text, texts, have_verdicts(options));
  if (right.size() == 1) choice = right.front();
  return right.empty() ? wrong.size() < 2 : right.size() == 1;
}

// The option that replaces an earlier one after "but", "however", "would be" and the like: "The answer could be C, but
// it's more likely to be A".
std::optional<std::size_t> contrasted_choice(std::string_view text, const Options& options) {
  constexpr std::size_t kLastBytes = 300;
  const std::size_t begin = text.size() - std::min(text.size(), kLastBytes);
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
  const LetterMentions finder(behind, options);
  Places preferred, mentioned;
  for (const LetterMention& mention : finder.find()) {
    mentioned.insert(mention.place);
    if (finder.is_preferred(mention)) preferred.insert(mention.place);
  }
  if (!preferred.empty() || !mentioned.empty()) return only(preferred);
  return concluded_by_text(behind, options);
}

std::optional<std::size_t> stated_choice(std::string_view text, const Options& options) {
  const LetterMentions finder(text, options);
  const std::vector<LetterMention> mentions = finder.find();
  for (const auto states : {&LetterMentions::is_called_right, &LetterMentions::is_chosen})
    for (auto mention = mentions.rbegin(); mention != mentions.rend(); ++mention)
      if ((finder.*states)(*mention)) {
        if (names_another(text.substr(mention->at + 1), options)) return {};
        return mention->place;
      }
  Places fitting;
  for (const LetterMention& mention : mentions)
    if (finder.is_called_fitting(mention)) fitting.insert(mention.place);
  if (const auto place = only(fitting)) return place;
  if (const auto place = closing_letter(text, options)) return place;
  if (const auto place = first_line_choice(text, options)) return place;
  const auto place = mentions.empty() ? std::nullopt : only_mention(mentions);
  const bool several = std::any_of(mentions.begin(), mentions.end(), [&](const LetterMention& one) {
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

// The line without an arrow or a hand that points to the rest of it.
std::string_view without_pointer(std::string_view line) {
  for (const std::string_view sign : {"\u27a1\ufe0f", "\u27a1", "\u2192", "\U0001f449", "=>", "->", "\u21d2"})
    if (line.starts_with(sign)) return trim(line.substr(sign.size()));
  return line;
}

// The option of a last line that concludes after a list of the options: "It is a dog."
std::optional<std::size_t> concluded_option(std::string_view line, const Options& options) {
  const std::string word = ascii_lower(word_from(line, 0));
  const bool concludes = is_among(word, std::initializer_list<std::string_view>{"it", "it's", "so", "thus", "therefore",
                                                                                "hence", "this", "that's", "clearly"});
  return concludes ? held_option(line, options) : std::nullopt;
}

// The option that the wording concludes with, unless the text denies it.
std::optional<std::size_t> worded_choice(std::string_view plain, const Options& options) {
  const Places denied = named_options(plain, options).denied;
  for (const auto find : {concluded_by_text, stated_first, only_predicate})
    if (const auto place = find(plain, options)) return denied.count(*place) > 0 ? std::nullopt : place;
  return {};
}

// "That's right, the arrow points left.": if "right" is an option and the rest names an option, the text without the
// words that agree with the question.
std::string_view without_agreement(std::string_view plain, const Options& options) {
  if (with_text_in_any_case("right", options).empty()) return plain;
  const std::string lower = ascii_lower(plain.substr(0, 40));
  for (const std::string_view words : {"that's right", "that is right", "you're right", "you are right", "right, so",
                                       "right, therefore", "all right", "alright"}) {
    if (!starts_with_word(lower, words)) continue;
    const std::string_view rest = behind(plain.substr(words.size()), ",.:!; ");
    const bool reason = ascii_lower(rest.substr(0, 8)).starts_with("because") || rest.starts_with("since");
    return reason || named_options(rest, options).named.empty() ? plain : rest;
  }
  return plain;
}

// read_choice without its last resort, the right sides of equations.
std::optional<std::size_t> read_with_texts(std::string_view plain, const Options& options) {
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
  return worded_choice(plain, options);
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

std::optional<std::size_t> read_choice(std::string_view given, const Options& options) {
  const std::string_view plain = without_agreement(given, options);
  if (const auto place = read_with_texts(plain, options)) return place;
  const Options values = without_left_sides(options);  // "3", "4" for "x = 3", "x = 4"
  return values == options ? std::nullopt : read_with_texts(plain, values);
}

}  // namespace agon::env
