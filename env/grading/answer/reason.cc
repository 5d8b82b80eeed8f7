#include "env/grading/answer/reason.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "core/text.h"
#include "env/grading/answer/denied.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

constexpr std::size_t kLongestCorrection = 400, kMostCorrections = 8, kCorrectionReach = 300;
constexpr std::string_view kDigits = "0123456789";

// Each begins with a blank.
constexpr std::string_view kReasons[] = {" because", " since ", " given ",     " whereas ", " while ",     " weil ",
                                         " porque ", " car ",   " parce que ", " perché ",  " потому что "};
constexpr std::string_view kConditions[] = {" if ", " when ", " where ", " as ", " so that ", " provided "};
constexpr std::string_view kBehindCommas[] = {
    "which ", "who ", "whose ", "i.e.", "not ", "rather than ", "instead of ", "unlike ", "with ", "including ",
    "of which ", "namely ", "from ", "consisting of ", "made up of ", "comprising ",
    // "of which" in other languages
    "dont ", "davon ", "darunter ", "di cui ", "dos quais ", "das quais ", "de los cuales ", "de las cuales ",
    "из них ", "waarvan ", "parmi lesquels ", "parmi eux ", "जिनमें से ", "منها ", "bunlardan ", "trong đó ", "w tym ",
    "z czego ", "varav ", "hvoraf "};
// The same, after a mark or a blank.
constexpr std::string_view kPartsBehind[] = {",其中", ",そのうち", ".そのうち", ",うち",  ".うち",
                                             " 그중", " 그 중",    ",그중",     "، منها "};
// After "as": not a reason.
constexpr std::string_view kBehindAs[] = {"well", "many", "much", "few",  "follows",  "shown",  "of",         "a",
                                          "an",   "in",   "per",  "seen", "expected", "marked", "the answer", "stated"};
constexpr std::string_view kManyAs[] = {" as many ", " as much ", " as few "};  // before the "as" of a comparison
constexpr std::string_view kConclusions[] = {
    " so ",     "thus",      "therefore",  "hence",  " then ",     "answer",   " total",     "are left",
    "is left",  "left over", "left.",      "remain", "altogether", "\u21d2",   "->",         "in all",
    "you need", "we need",   "difference", "result", " sum ",      " leaves ", "true value", "round"};
constexpr std::string_view kCorrections[] = {"actually",
                                             "correction",
                                             "edit:",
                                             "scratch that",
                                             "no",
                                             "wait",
                                             "hold on",
                                             "after recounting",
                                             "after a recount",
                                             "but actually",
                                             "but in reality",
                                             "aber es sind",
                                             "en fait",
                                             "en realidad",
                                             "на самом деле",
                                             "实际上",
                                             "其实",
                                             "等等",
                                             "等一下",
                                             "不对",
                                             "更正",
                                             "in fact",
                                             "but in fact",
                                             "but i see",
                                             "but i count",
                                             "but there are",
                                             "on recount",
                                             "on a recount",
                                             "on second thought",
                                             "hmm",
                                             "i mean",
                                             "make that",
                                             "but it should be",
                                             "but it's",
                                             "but it is",
                                             "sorry",
                                             "update:",
                                             "revised:"};
constexpr std::string_view kBeforeCorrected[] = {"in fact ",
                                                 "actually ",
                                                 "应该是",
                                                 "it's ",
                                                 "it is ",
                                                 "it should be ",
                                                 "should be ",
                                                 "that's ",
                                                 "the answer is ",
                                                 "the answer should be ",
                                                 "there are ",
                                                 "there is ",
                                                 "i count ",
                                                 "so ",
                                                 "thus ",
                                                 "therefore ",
                                                 "the correct answer is ",
                                                 "is ",
                                                 "it must be ",
                                                 "i see ",
                                                 "the answer's ",
                                                 "that ",
                                                 "make that ",
                                                 "i mean "};

// Beginnings of the check of an answer, before a colon or the end of its line.
constexpr std::string_view kChecks[] = {"check",
                                        "verif",
                                        "let's verify",
                                        "let's check",
                                        "let us verify",
                                        "let me verify",
                                        "to verify",
                                        "to check",
                                        "substituting back",
                                        "plugging back",
                                        "double-check",
                                        "double check",
                                        "sanity check",
                                        "we can verify",
                                        "we can check",
                                        "\u68c0\u9a8c",
                                        "\u9a8c\u8bc1",
                                        "\u9a8c\u7b97",
                                        "\u68c0\u67e5",
                                        "\u691c\u7b97",
                                        "\uac80\uc0b0",
                                        "\u043f\u0440\u043e\u0432\u0435\u0440\u043a",
                                        "probe:",
                                        "v\u00e9rif",
                                        "comprob",
                                        "prova:"};
constexpr std::string_view kOfThese[] = {" of them", " of these", " of those",   "Davon ",    " davon ",
                                         "de ellos", "de ellas",  "d'entre eux", "Parmi eux", "di questi",
                                         "из них",   "Из них",    "うち",        "其中",      "그중"};
constexpr std::size_t kLongestHeading = 40;
// Beginnings of a last sentence that says nothing.
constexpr std::string_view kClosings[] = {"let me know",      "please let me know",  "hope this",
                                          "i hope",           "feel free",           "if you have any",
                                          "if you have more", "if you have further", "if you need any",
                                          "if you need more", "if you need further", "if you need help",
                                          "if you'd",         "if you want me",      "if you want more",
                                          "would you like",   "do you want",         "is there anything"};
// Beginnings of a last note that says what the answer is about. A note that concludes stays.
constexpr std::string_view kNotes[] = {"note:",
                                       "note that ",
                                       "please note",
                                       "this is based on",
                                       "this assumes",
                                       "this is higher than",
                                       "this is lower than",
                                       "this is more than",
                                       "this is less than"};
constexpr std::string_view kConcludingNotes[] = {"answer", " so ", "therefore", "thus", "=", "total", "actually"};

// Where the sentence that begins at `at` ends, after its mark.
std::size_t sentence_end(std::string_view text, std::size_t at) {
  for (; at < text.size(); ++at) {
    if (text[at] == '\n') return at + 1;
    const bool last = at + 1 == text.size();
    if (std::string_view(".!?").find(text[at]) != std::string_view::npos &&
        (last || text[at + 1] == ' ' || text[at + 1] == '\n' || static_cast<unsigned char>(text[at + 1]) >= 0x80))
      return at + 1;
  }
  return text.size();
}

// The text without the marks, blanks and dashes at its front.
std::string_view behind_marks(std::string_view text) {
  for (text = behind(text, ",:.-! \n"); text.starts_with("\u2014") || text.starts_with("\u2013");)
    text = behind(text.substr(3), ",:.-! \n");
  return text;
}

// Does a sentence or a line begin at `at`, with the blank before it?
bool begins_sentence(std::string_view text, std::size_t at) {
  if (at == 0 || text[at - 1] == '\n') return true;
  return (text[at] == ' ' || static_cast<unsigned char>(text[at]) >= 0x80) &&
         std::string_view(".!?:").find(text[at - 1]) != std::string_view::npos;
}

// "which gives 60", "which is 27.": a conclusion, not a reason.
bool concludes(std::string_view clause) {
  if (!clause.starts_with("which ")) return false;
  clause.remove_prefix(6);
  if (starts_with_any(clause, std::initializer_list<std::string_view>{"gives ", "means ", "makes ", "leaves ",
                                                                      "yields ", "equals "}))
    return true;
  if (!clause.starts_with("is ")) return false;
  const std::string_view value = clause.substr(0, clause.find_first_of(".,;\n"));
  const std::size_t digits = value.find_first_of(kDigits);
  return digits < 6 && value.find(" of ") == value.npos && value.find(" than ") == value.npos &&
         std::count(value.begin(), value.end(), ' ') < 4;
}

bool gives_reason(std::string_view lower, std::size_t at) {
  const std::string_view rest = lower.substr(at, kCorrectionReach);
  if (starts_with_any(rest, kPartsBehind)) return true;
  if (rest[0] == ' ') {
    if (starts_with_any(rest, kReasons)) return true;
    const bool after_comma = at > 0 && lower[at - 1] == ',';
    if (after_comma && starts_with_any(rest.substr(1), kBehindCommas) && !rest.starts_with(" from which "))
      return !denies_last(rest) && !concludes(rest.substr(1));
    if (after_comma && has_digit(rest.substr(1, 1)) &&
        last_bytes(lower.substr(0, at), kCorrectionReach).find("total") != lower.npos)
      return true;
    if (!starts_with_any(rest, kConditions)) return false;
    if (rest.starts_with(" as ") && contains_any(last_bytes(lower.substr(0, at), 40), kManyAs)) return false;
    if (rest.starts_with(" as ")) return !starts_with_any(rest.substr(4), kBehindAs);
    return rest.find(", ") == rest.npos;  // "if 3 go, 7 are left" concludes
  }
  const bool words = std::count_if(rest.begin(), rest.end(), is_letter) > 3;
  return rest[0] == ';' && words && rest.find('=') == rest.npos && has_digit(rest);
}

// The size of ": " or of a dash between blanks at the front of a text; 0: none.
std::size_t part_mark(std::string_view text) {
  for (const std::string_view mark : {": ", " - ", " \u2013 ", " \u2014 "})
    if (text.starts_with(mark)) return mark.size();
  return text.starts_with(':') && has_digit(text.substr(1, 1)) ? 1 : 0;
}

// "12 balls: 5 red and 7 blue", "12 balls - 5 red and 7 blue": a number and its unit before the colon, and several
// after it.
bool lists_parts(std::string_view lower, std::size_t at) {
  if (at == 0 || (!is_letter(lower[at - 1]) && static_cast<unsigned char>(lower[at - 1]) < 0x80)) return false;
  const std::size_t mark = part_mark(lower.substr(at));
  if (mark == 0) return false;
  const std::string_view rest = lower.substr(at + mark, kCorrectionReach);
  const std::size_t first = rest.find_first_of(kDigits);
  const std::size_t gap = rest.find_first_not_of(kDigits, std::min(first, rest.size()));
  return first != rest.npos && gap != rest.npos && has_digit(rest.substr(gap)) && rest.find('=') == rest.npos;
}

// The end of the bracket with words and numbers that begins at `at`; 0: none begins there.
std::size_t aside_at(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with(" (") || at == 0 ||
      std::string_view("+-*/=^").find(text[at - 1]) != std::string_view::npos)
    return 0;
  int depth = 0;
  for (std::size_t end = at + 1; end < text.size() && end - at < 400; ++end) {
    depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    if (depth > 0) continue;
    const std::string_view inside = text.substr(at + 2, end - at - 2);
    if (starts_with_any(inside, std::initializer_list<std::string_view>{"or ", "maybe", "possibly", "perhaps"}))
      return 0;
    const bool words = std::any_of(inside.begin(), inside.end(), is_letter) || inside.find('=') != inside.npos;
    return words && has_digit(inside) ? end + 1 : 0;
  }
  return 0;
}

// The comma that ends the clause with which `sentence` begins (", which .."). A verb or a second sentence follows it.
std::size_t comma_before_verb(std::string_view sentence) {
  constexpr std::string_view kGoesOn[] = {" is ",   " are ", " was ", " has ",     " can ",  " lies ",
                                          " sits ", " but ", " so ",  " appears ", " must ", " should "};
  int depth = 0;
  for (std::size_t at = 0; at < sentence.size(); ++at) {
    depth += sentence[at] == '(' || sentence[at] == '[' ? 1 : sentence[at] == ')' || sentence[at] == ']' ? -1 : 0;
    if (sentence[at] != ',' || depth > 0) continue;
    const std::string_view rest = sentence.substr(at + 1, kCorrectionReach);
    const std::string_view words = rest.substr(0, rest.find_first_of("[(,"));
    if (starts_with_any(rest, kGoesOn) || (rest.starts_with(" and ") && words.find(" is ") != words.npos)) return at;
  }
  return sentence.npos;
}

// Where the " which .." at `at` ends; 0: it says that the text before it is wrong.
std::size_t clause_end(std::string_view text, std::size_t at) {
  const std::string_view reach = text.substr(0, at + kCorrectionReach);
  const std::string_view sentence = text.substr(at, sentence_end(reach, at) - at);
  if (denies_last(sentence.substr(std::min(sentence.size(), std::string_view(" which").size())))) return 0;
  const std::size_t comma = comma_before_verb(sentence);
  return comma == sentence.npos ? sentence_end(text, at) : at + comma + 1;
}

// Appends a sentence without its asides and reasons.
void add_without_reasons(std::string_view sentence, std::string& kept) {
  const std::string lower = ascii_lower(sentence);
  const std::size_t first = lower.find_first_of(kDigits);
  std::size_t from = 0;
  for (std::size_t at = first; at < lower.size(); ++at) {
    if (std::string_view(" ;:,").find(lower[at]) == std::string_view::npos) continue;
    if (const std::size_t end = aside_at(lower, at)) {
      kept += sentence.substr(from, at - from);
      from = at = end;
      --at;
    } else if (gives_reason(lower, at) || lists_parts(lower, at)) {
      if (contains_any(std::string_view(lower).substr(at), kConclusions)) break;
      kept += trim(sentence.substr(from, at - from));
      if (kept.ends_with(',')) kept.pop_back();
      if (sentence.ends_with('\n')) kept += '\n';
      if (sentence.ends_with('.')) kept += '.';
      return;
    }
  }
  kept += sentence.substr(std::min(from, sentence.size()));
}

}  // namespace

std::string_view before_reason(std::string_view sentence) {
  const std::string lower = ascii_lower(sentence);
  for (std::size_t at = 1; at < lower.size(); ++at) {
    if (lower[at] != ' ' && lower[at] != ';') continue;
    const bool aside = lower[at] == ' ' && at + 2 < lower.size() && lower[at + 1] == '(' && is_letter(lower[at + 2]);
    if (!aside && !gives_reason(lower, at)) continue;
    const std::string_view part = sentence.substr(0, at);
    return part.ends_with(',') ? part.substr(0, part.size() - 1) : part;
  }
  return sentence;
}

std::string without_reasons(std::string_view plain) {
  std::string kept;
  bool counted = false;  // a number stands in an earlier sentence
  for (std::size_t at = 0; at < plain.size();) {
    const std::size_t end = sentence_end(plain, at);
    const std::string_view sentence = plain.substr(at, end - at);
    const bool parts = counted && contains_any(sentence, kOfThese);
    counted = counted || has_digit(sentence);
    if (!parts) add_without_reasons(sentence, kept);
    at = end;
  }
  return kept;
}

std::string without_asides(std::string_view plain) {
  std::string kept;
  std::size_t from = 0;
  for (std::size_t at = 1; at < plain.size(); ++at) {
    if (plain[at] != ' ') continue;
    const bool clause = plain[at - 1] == ',' && plain.substr(at).starts_with(" which ");
    const std::size_t end = clause ? clause_end(plain, at) : aside_at(plain, at);
    if (end == 0) continue;
    kept += plain.substr(from, at - from);
    from = end;
    at = end - 1;
  }
  return kept + std::string(plain.substr(std::min(from, plain.size())));
}

std::string_view before_check(std::string_view plain) {
  const std::string lower = to_lower(plain);
  const std::size_t first = lower.find_first_of(kDigits);
  for (std::size_t at = first; at < lower.size() && lower.size() == plain.size(); ++at) {
    if (!begins_sentence(lower, at)) continue;
    const std::string_view rest = behind(std::string_view(lower).substr(at), " #*(");
    if (!starts_with_any(rest, kChecks)) continue;
    const std::size_t mark = rest.find_first_of(":.\n");
    if (mark != rest.npos && rest[mark] != '.' && mark < kLongestHeading) return trim(plain.substr(0, at));
  }
  return plain;
}

std::string_view without_closing(std::string_view plain) {
  const std::string lower = ascii_lower(plain);
  std::size_t end = plain.size();
  for (std::size_t at = plain.size() - std::min(plain.size(), kLongestCorrection); at < lower.size(); ++at) {
    if (at == 0 || !begins_sentence(lower, at)) continue;
    const std::string_view rest = behind(std::string_view(lower).substr(at), " (");
    const bool note = starts_with_any(rest, kNotes) && !contains_any(rest, kConcludingNotes);
    if (!note && !starts_with_any(rest, kClosings)) continue;
    end = at;
    break;
  }
  const std::string_view kept = trim(plain.substr(0, end));
  return kept.empty() ? plain : kept;
}

std::vector<std::string_view> corrections_in(std::string_view plain) {
  const std::size_t begin = plain.size() - std::min(plain.size(), kLongestCorrection);
  const std::string lower = ascii_lower(plain.substr(begin));
  std::vector<std::string_view> found;
  for (std::size_t at = lower.size(); at-- > 1 && found.size() < kMostCorrections;) {
    if (is_word_byte(lower[at - 1]) || trim(plain.substr(0, begin + at)).empty()) continue;
    const std::string_view rest = std::string_view(lower).substr(at);
    for (const std::string_view word : kCorrections) {
      if (!rest.starts_with(word)) continue;
      const std::string_view behind = rest.substr(word.size());
      const bool stops = !behind.empty() && std::string_view(",:. ").find(behind[0]) != std::string_view::npos;
      const bool ends = word.ends_with(':') || (word == "no" ? behind.starts_with(',') : stops);
      const std::string_view before = trim(std::string_view(lower).substr(0, at));
      const bool parted =
          word != "no" || (!before.empty() && std::string_view(".,-;!").find(before.back()) != std::string_view::npos);
      if (!ends || !parted) continue;
      const std::string_view value = behind_marks(behind);
      if (!value.empty()) found.push_back(plain.substr(begin + static_cast<std::size_t>(value.data() - lower.data())));
      break;
    }
  }
  return found;
}

std::string_view corrected_sentence(std::string_view correction) {
  std::string_view sentence = first_sentence(correction.substr(0, correction.find('\n')));
  const std::string_view rest = correction.substr(sentence.size());
  const std::string lower = ascii_lower(rest);
  for (const std::string_view word : {" so ", " thus ", " therefore ", "\nso ", "\nthus ", "\ntherefore "})
    if (const std::size_t at = lower.rfind(word); at != lower.npos) sentence = trim(rest.substr(at));
  if (sentence.ends_with('.')) sentence.remove_suffix(1);
  for (int i = 0; i < 3; ++i) {
    const std::string start = ascii_lower(sentence.substr(0, 24));
    for (const std::string_view word : kBeforeCorrected)
      if (start.starts_with(word)) {
        sentence = trim(sentence.substr(word.size()));
        break;
      }
  }
  return sentence;
}

}  // namespace agon::env
