#include "env/grading/answer/number/meant.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>

#include "core/text.h"
#include "env/grading/answer/missing.h"
#include "env/grading/answer/number/condition.h"
#include "env/grading/answer/number/text.h"
#include "env/grading/answer/number/word.h"
#include "env/grading/answer/only_number.h"
#include "env/grading/answer/phrases.h"
#include "env/grading/answer/reason.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

// "30 cm (about 12 inches)" without its brackets; "a dozen (12)" keeps them because they hold its number.
std::string_view without_brackets(std::string_view text) {
  text = trim(text);
  if (text.ends_with('.')) text.remove_suffix(1);
  const std::size_t open = text.rfind(" (");
  if (!text.ends_with(')') || open == text.npos) return text;
  const std::string_view left = text.substr(0, open), inside = text.substr(open + 2);
  if (starts_with_any(inside, std::initializer_list<std::string_view>{"or ", "maybe", "possibly", "perhaps"}))
    return text;
  return std::any_of(left.begin(), left.end(), is_digit) || left.find("\u221a") != left.npos ||
                 left.find("\u03c0") != left.npos
             ? left
             : text;
}

std::optional<Number> parse_or_only(std::string_view text) {
  if (const auto number = parse_plain_number(text)) return number;
  return only_number(without_brackets(text));
}

// The number after the last "=" or "≈", if the text is a single equation. If a sum or product stands there, the number
// before it: "36 + 4 = 40 = 4 × 10".
std::optional<Number> behind_equals(std::string_view text) {
  std::size_t first = text.npos, last = text.npos, size = 1;  // positions of signs; size: bytes of the last one
  std::size_t before = text.npos;                             // where the text between the last two begins
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool about = text.substr(at).starts_with("\u2248");
    const bool equals = text[at] == '=' &&
                        (at == 0 || std::string_view("<>!=").find(text[at - 1]) == std::string_view::npos) &&
                        (at + 1 == text.size() || text[at + 1] != '=');
    if (!about && !equals) continue;
    if (first == text.npos) first = at;
    if (last != text.npos) before = last + size;
    last = at;
    size = about ? 3 : 1;
  }
  if (last == text.npos) return {};
  const std::string_view between = text.substr(first, last - first);
  if (between.find_first_of(",;\n") != between.npos || between.find(" and ") != between.npos ||
      between.find(" or ") != between.npos)
    return {};
  const std::string_view right = behind(text.substr(last + size), " ");
  const std::size_t digits = digits_at(right, 0).size();
  if (is_multiple_of_x(text.substr(0, last + size), right.substr(digits))) return {};
  if (const auto number = parse_or_only(right)) return number;
  const bool checks = before != text.npos && !right.empty() && std::none_of(right.begin(), right.end(), is_letter);
  return checks ? parse_plain_number(trim(text.substr(before, last - before))) : std::nullopt;
}

// "T = 300K", "a temperature of 300K" with a blank before each K: kelvin, not thousands. Other texts as they are.
std::string with_kelvin_apart(std::string_view text) {
  const bool heat = ascii_lower(text).find("temperature") != std::string::npos || text.find("T =") != text.npos ||
                    text.find("T=") != text.npos;
  std::string apart;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends = i + 1 == text.size() || !is_word_byte(text[i + 1]);
    if (heat && text[i] == 'K' && i > 0 && is_digit(text[i - 1]) && ends) apart += ' ';
    apart += text[i];
  }
  return apart;
}

// The number that a whole text is, in digits or in words.
std::optional<Number> whole_number(std::string_view text) {
  if (const auto number = parse_plain_number(text)) return number;
  const auto digits = number_words_in_digits(text);
  return digits ? parse_plain_number(*digits) : std::nullopt;
}

// Is a text nothing but several numbers: "42, 45", "(42; 45)"?
bool lists_numbers(std::string_view text) {
  while (!text.empty() && std::string_view("([{ ").find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  while (!text.empty() && std::string_view(")]}. ").find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  std::size_t count = 0;
  for (std::size_t at = 0; at <= text.size() && count < 64; ++count) {
    const std::size_t end = std::min(text.find_first_of(",;", at), text.size());
    const std::string_view part = trim(text.substr(at, end - at));
    if (part.empty() || part.size() > 40 || !is_digit(part.back()) || !parse_plain_number(part)) return false;
    at = end + 1;
    if (at < text.size() && text[at] != ' ' && text[at - 1] == ',') return false;  // 1,234
  }
  return count > 1;
}

// Where " - " separates an answer from its reason; not within a sum.
std::size_t dash_of_reason(std::string_view text) {
  const std::size_t at = text.find(" - ");
  const bool sum = at != text.npos && at > 0 && at + 3 < text.size() &&
                   ((is_digit(text[at - 1]) && is_digit(text[at + 3])) || text.find('=', at) != text.npos);
  return sum ? text.npos : at;
}

// "120 / 18 = 6.67, which we round up to 7 boxes": the number after the last "round", unless that names decimal places.
std::optional<Number> rounded(std::string_view text) {
  const std::string lower = ascii_lower(text);
  if (const std::size_t behind = lower.find(" when rounded"); behind != lower.npos) {
    const std::size_t restated = lower.rfind(" or ", behind);
    return restated == lower.npos ? std::nullopt : only_number(text.substr(restated, behind - restated));
  }
  const std::size_t at = lower.rfind(" round");
  if (at == lower.npos) return {};
  const std::size_t to = lower.find(" to ", at);
  if (to == lower.npos || to - at > 16) return {};
  const std::string_view said = std::string_view(lower).substr(to);
  if (contains_any(said,
                   std::initializer_list<std::string_view>{"decimal", "significant", "nearest", "place", "digit"}))
    return {};
  return only_number(text.substr(to + 4));
}

// The number of a phrase: of its sentence, or of the part before a reason.
std::optional<Number> of_phrase(std::string_view sentence) {
  if (sentence.starts_with("not ")) return {};
  if (const auto number = rounded(sentence)) return number;
  std::size_t end = std::min(before_reason(sentence).size(), dash_of_reason(sentence));
  for (const std::string_view break_at : {", ", " (", "; ", " which", " so "})
    end = std::min(end, sentence.find(break_at));
  for (const std::string_view part : {sentence, sentence.substr(0, end)})
    if (const auto number = whole_number(part)) return number;
  for (const std::string_view part : {sentence.substr(0, end), sentence}) {
    if (const auto number = behind_equals(part)) return number;
    if (const auto number = only_number(part)) return number;
  }
  return {};
}

constexpr std::string_view kConclusions[] = {" is ",
                                             " are ",
                                             " was ",
                                             " were ",
                                             " equals ",
                                             " gives ",
                                             " get ",
                                             " total ",
                                             "so ",
                                             "then ",
                                             "thus",
                                             "hence",
                                             "total: ",
                                             "altogether",
                                             "we have ",
                                             " make ",
                                             " makes ",
                                             "making ",
                                             " sind ",
                                             " y en a ",
                                             " hay ",
                                             "therefore",
                                             "should be ",
                                             " increase of ",
                                             "i.e. ",
                                             " decrease of ",
                                             " mean ",
                                             " difference of ",
                                             " means ",
                                             " cost ",
                                             " costs ",
                                             " leaves ",
                                             "leaving ",
                                             "now ",
                                             " corresponds to ",
                                             "it's ",
                                             "that's ",
                                             " yields ",
                                             " results in ",
                                             " soit ",
                                             " donc ",
                                             " ergibt ",
                                             " quindi ",
                                             " \u0438\u0442\u043e\u0433\u043e ",
                                             "\u21d2",
                                             "\u4e00\u5171",
                                             "\u603b\u5171",
                                             "\u5408\u8a08",
                                             "\u5168\u90e8\u3067",
                                             "\u800c\u662f",
                                             "\u5e94\u8be5\u662f",
                                             "\u6240\u4ee5",
                                             "\u56e0\u6b64"};

// The number after the last "is", "are", "so" and the like that a number follows.
std::optional<Number> behind_conclusion(std::string_view text) {
  const std::string lower = ascii_lower(text);
  const auto last_before = [&](std::size_t end) {
    std::size_t last = 0;
    for (const std::string_view word : kConclusions) {
      const std::size_t at = end < word.size() ? lower.npos : lower.rfind(word, end - word.size());
      if (at != lower.npos) last = std::max(last, at + word.size());
    }
    return last;
  };
  std::size_t last = last_before(lower.size());
  for (int i = 0; i < 3 && last > 0 && !has_digit(std::string_view(lower).substr(last)); ++i) {
    if (const auto words = whole_number(text.substr(last))) return words;
    last = last_before(last - 1);
  }
  if (last == 0 || is_no_answer(text.substr(0, last), {})) return {};
  return only_number(text.substr(last));
}

// The number of a correction, which replaces all before it: in its phrase, in a short sentence that is a number, or in
// its conclusion.
std::optional<Number> of_correction(std::string_view text) {
  for (const std::string_view correction : corrections_in(text)) {
    for (const Phrase& phrase : answer_phrases(correction))
      if (const auto number = of_phrase(phrase.sentence)) return number;
    const auto number = whole_number(corrected_sentence(correction));
    const auto besides = only_number(correction);
    if (number && (!besides || equal_numbers(*besides, *number))) return number;
    if (const auto concluded = behind_conclusion(correction)) return concluded;
    const std::size_t last = trim(correction).substr(0, std::max<std::size_t>(correction.size(), 1) - 1).rfind(". ");
    if (last != correction.npos)
      if (const auto closing = whole_number(correction.substr(last + 2))) return closing;
  }
  return {};
}

bool names_sum(std::string_view line) {
  const std::string lower = ascii_lower(line);
  for (const std::string_view word : {"total", "sum", "=", "altogether", "in all", "so ", "answer", "result", "differ"})
    if (lower.find(word) != lower.npos) return true;
  return false;
}

// "4 dogs": a line that is a number and at most one word.
std::optional<Number> short_line_number(std::string_view line) {
  const bool listed = line.starts_with("- ") || digits_at(line, 0).size() == line.find(". ");  // "1. dog"
  if (std::count(line.begin(), line.end(), ' ') > 1 || listed) return {};
  return parse_plain_number(line);
}

// The number of a first line such as "3" that an explanation follows, without a second line of the kind.
std::optional<Number> first_line_number(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.size() == text.size()) return {};
  const std::string_view rest = text.substr(line.size() + 1);
  return short_line_number(rest.substr(0, rest.find('\n'))) ? std::nullopt : short_line_number(line);
}

// "- 2 black", "* 2 black", "1. two black", "| black | 2 |".
bool is_list_item(std::string_view line) {
  if (starts_with_any(line, std::initializer_list<std::string_view>{"- ", "* ", "\u2022 ", "\u00b7 ", "|"}))
    return true;
  const std::size_t digits = digits_at(line, 0).size();
  return digits > 0 && digits < 3 && (line.substr(digits).starts_with(". ") || line.substr(digits).starts_with(") "));
}

// Is every line a bullet or a short line with a number, and is the last one not a total? Then none is the answer.
bool lists_lines(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const bool part = is_list_item(line) && std::any_of(line.begin(), line.end(), is_digit);
    if (!part && !short_line_number(line)) return false;
    at = end + 1;
  }
  return count > 1 && !names_sum(last_line(text));
}

// "There are 4 cats:", then a list of them that ends the text without a total: the text before the list.
std::string_view before_details(std::string_view text) {
  std::string_view rest = text;
  while (is_list_item(last_line(rest)) && last_line(rest).size() < rest.size())
    rest = trim(rest.substr(0, rest.size() - last_line(rest).size() - 1));
  return rest.size() == text.size() || is_list_item(rest) || names_sum(last_line(text)) ? text : rest;
}

// The number of the only line that names a total: "Total: 6", then its parts.
std::optional<Number> total_line(std::string_view text) {
  std::optional<Number> total;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (ascii_lower(line.substr(0, 6)).starts_with("total")) {
      const auto number = only_number(line);
      if (!number || total) return {};
      total = number;
    }
    at = end + 1;
  }
  return text.find('\n') == text.npos ? std::nullopt : total;
}

// The size of "in 2015", "of 2015" or an ordinal ("17th") at the front of a text; 0: none.
std::size_t year_or_ordinal(std::string_view text) {
  const std::string_view digits = digits_at(text, 0);
  if (!digits.empty()) {
    const std::string_view ending = text.substr(digits.size(), 2);
    if (digits.size() == 4 && text.substr(4).starts_with("\u5e74")) return 7;
    return is_among(ending, std::initializer_list<std::string_view>{"st", "nd", "rd", "th"}) ? digits.size() + 2 : 0;
  }
  const std::string_view year = digits_at(text, 3);
  if (year.size() != 4 || (!year.starts_with("19") && !year.starts_with("20"))) return 0;
  return is_among(ascii_lower(text.substr(0, 3)), std::initializer_list<std::string_view>{"in ", "of "}) ? 7 : 0;
}

// The text without years and ordinals: "In 2015, 38% of adults smoked", "The 4th bar has 37".
std::string without_years(std::string_view text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const bool apart = at == 0 || !is_word_byte(text[at - 1]);
    if (const std::size_t size = apart ? year_or_ordinal(text.substr(at)) : 0)
      at += size;
    else
      kept += text[at++];
  }
  return kept;
}

// The clause of the last "=": it begins after a word that concludes, or after the end of a sentence.
struct Clause {
  std::size_t begin = 0;
  bool concludes = false;
};
Clause clause_of_last_equation(std::string_view text) {
  constexpr std::string_view kConcluding[] = {
      "so ",         "thus",         "therefore",    "hence",    "gives ",    "giving ",  "means ",
      "from which ", "leading to ",  "leads to ",    "implies ", "implying ", "we have ", "we get ",
      "we obtain ",  "\u6240\u4ee5", "\u56e0\u6b64", "\u2234",   "\u6545"};
  const std::string lower = ascii_lower(text.substr(0, text.rfind('=')));
  Clause clause;
  for (const std::string_view end : {". ", "; ", ", ", "\n"})
    if (const std::size_t at = lower.rfind(end); at != lower.npos)
      clause.begin = std::max(clause.begin, at + end.size());
  const std::size_t stop = std::min(lower.find_last_of(".;\n"), lower.size());
  const std::string_view sentence = behind(std::string_view(lower).substr(stop), ".;\n ");
  clause.concludes = starts_with_any(sentence, std::initializer_list<std::string_view>{"since ", "because ", "as "});
  for (const std::string_view word : kConcluding)
    if (const std::size_t at = lower.rfind(word); at != lower.npos && at >= clause.begin)
      clause = {at + word.size(), true};
  return clause;
}

// The result of the last of several equations, if its clause concludes or computes ("..., so x = 55", "...; cost = 56 *
// 4 = 224"), or if a line before it begins with "=".
std::optional<Number> last_equation(std::string_view text) {
  const std::size_t last = text.rfind('=');
  if (last == text.npos) return {};
  const Clause clause = clause_of_last_equation(text);
  const std::string_view said = text.substr(clause.begin);
  const std::string_view left = said.substr(0, last - clause.begin);
  const bool computes = left.find('=') != left.npos || left.find_first_of("+*/") != left.npos ||
                        contains_any(left, std::initializer_list<std::string_view>{" - ", "\u00d7", "\u00f7"});
  const bool derives = text.find("\n=") != text.npos || text.find("\n =") != text.npos ||
                       (text.substr(0, clause.begin).find_first_of("+*/^") != text.npos && clause.begin > 0);
  return clause.concludes || computes || derives ? behind_equals(said) : std::nullopt;
}

// The number of a text without a phrase, found by its signs and words.
std::optional<Number> in_sentences(std::string_view plain) {
  if (const auto number = behind_equals(plain)) return number;
  if (const auto number = only_number(without_brackets(plain))) return number;
  if (const auto number = last_equation(plain)) return number;
  const std::string_view text = before_details(plain);
  if (text.size() < plain.size())
    if (const auto number = only_number(text)) return number;
  if (const auto number = behind_conclusion(text)) return number;
  const std::string_view line = last_line(plain);
  if (line.size() == plain.size()) return {};
  if (const auto number = behind_equals(line)) return number;
  return parse_or_only(line.starts_with("- ") ? line.substr(2) : line);
}

// The text before its last sentence or line.
std::string_view before_last_sentence(std::string_view text) {
  const std::string_view said = trim(text);
  std::size_t end = 0;
  for (const std::string_view mark : {". ", "! ", "? ", ".\n", "\n"})
    if (const std::size_t at = said.rfind(mark); at != said.npos) end = std::max(end, at + 1);
  return said.substr(0, end);
}

// Does a sentence hold a number that equals this one?
bool holds(std::string_view sentence, const Number& number) {
  for (std::size_t at = 0; at < sentence.size(); ++at) {
    if (!is_digit(sentence[at]) || (at > 0 && is_word_byte(sentence[at - 1]))) continue;
    const auto [found, end] = number_at(sentence, at);
    if (found && equal_numbers(*found, number)) return true;
    at = std::max(at, end);
  }
  return false;
}

// "480 / 60 = 8. The car needs 8 hours to cover 480 km": the last equation's result, if the last sentence repeats it.
std::optional<Number> result_said_again(std::string_view before, std::string_view sentence) {
  const std::size_t equals = before.rfind('=');
  if (equals == before.npos) return {};
  const std::string_view result = before.substr(equals + 1);
  const auto number = only_number(result.substr(0, std::min(first_sentence(result).size(), result.find('\n'))));
  return number && holds(sentence, *number) ? number : std::nullopt;
}

// The only number of the last sentence with numbers; else its number that the last equation before it gives.
std::optional<Number> in_last_sentence(std::string_view text) {
  constexpr std::size_t kLastBytes = 4000;
  text = last_bytes(text, kLastBytes);
  constexpr std::string_view kHedging[] = {"could be", "might be", "may be", "maybe", "perhaps", "possibly"};
  while (!text.empty()) {
    const std::string_view before = before_last_sentence(text.substr(0, text.find_last_not_of(" \n.!?") + 1));
    const std::string_view sentence = text.substr(before.size());
    if (has_digit(sentence)) {
      if (before.empty() || contains_any(ascii_lower(sentence), kHedging)) return {};
      const auto number = only_number(sentence);
      return number ? number : result_said_again(before, sentence);
    }
    if (before.size() >= text.size()) break;
    text = before;
  }
  return {};
}

// The number of a text without a phrase.
std::optional<Number> without_phrase(std::string_view plain) {
  if (const auto number = total_line(plain)) return number;
  if (lists_lines(plain)) return {};
  if (const auto number = first_line_number(plain)) return number;
  if (const auto number = rounded(plain)) return number;
  const std::string answers = without_reasons(plain), bare = without_conditions(answers);
  if (const auto number = in_sentences(bare)) return number;
  if (const auto number = in_sentences(without_years(bare))) return number;
  if (const auto number = in_sentences(answers)) return number;
  if (const auto number = in_sentences(plain)) return number;
  if (const auto number = in_sentences(without_conditions(plain))) return number;
  if (const auto number = in_sentences(without_years(plain))) return number;
  if (const auto number = in_last_sentence(bare)) return number;
  const auto words = only_number_in_words(plain);
  return words ? parse_plain_number(*words) : std::nullopt;
}

// "8.\n8.\n8.": does a text only repeat one line?
bool repeats_a_line(std::string_view text) {
  const std::string_view line = last_line(text);
  std::string_view rest = text;
  while (rest.starts_with(line) && rest.size() > line.size() && rest[line.size()] == '\n')
    rest.remove_prefix(line.size() + 1);
  return rest == line && line.size() < text.size();
}

}  // namespace

std::optional<Number> read_number(std::string_view text) {
  const std::string_view said = repeats_a_line(text) ? last_line(text) : text;
  const std::string apart = without_places_of_variables(with_kelvin_apart(said));
  const std::string_view plain = without_closing(apart);
  if (digits_at(plain, 0).size() + 1 == plain.size() && plain.ends_with('!')) return {};  // "5!"
  if (const auto number = whole_number(plain)) return number;
  if (is_none_of_them(plain)) return parse_plain_number("0");
  const bool broken = breaks_off(plain);
  const std::string_view finished = broken ? before_last_sentence(plain) : plain;
  if (const auto number = of_correction(finished)) return number;
  for (const Phrase& phrase : answer_phrases(finished)) {
    if (lists_numbers(phrase.value) || refuses_first(phrase.sentence)) return {};
    if (const auto number = of_phrase(phrase.sentence)) return number;
  }
  return broken || refuses(plain) || refuses_number(plain) ? std::nullopt : without_phrase(before_check(plain));
}

}  // namespace agon::env
