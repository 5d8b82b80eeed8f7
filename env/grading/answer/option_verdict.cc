#include "env/grading/answer/option_verdict.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

constexpr std::size_t kWindow = 48, kLongestList = 4000;

struct Sign {
  std::string_view text;
  OptionVerdict verdict;
};
constexpr Sign kSigns[] = {{"✓", OptionVerdict::right}, {"✔", OptionVerdict::right}, {"✅", OptionVerdict::right},
                           {"☑", OptionVerdict::right}, {"✗", OptionVerdict::wrong}, {"✘", OptionVerdict::wrong},
                           {"❌", OptionVerdict::wrong}, {"×", OptionVerdict::wrong}, {"☐", OptionVerdict::wrong}};
constexpr Sign kBoxes[] = {{"☐", OptionVerdict::wrong},   {"☑", OptionVerdict::right},   {"[ ]", OptionVerdict::wrong},
                           {"[x]", OptionVerdict::right}, {"[X]", OptionVerdict::right}, {"✅", OptionVerdict::right}};
// Verdicts only at the end of a clause.
constexpr Sign kWords[] = {
    {"correct", OptionVerdict::right},   {"right", OptionVerdict::right},      {"true", OptionVerdict::right},
    {"yes", OptionVerdict::right},       {"match", OptionVerdict::right},      {"valid", OptionVerdict::right},
    {"incorrect", OptionVerdict::wrong}, {"wrong", OptionVerdict::wrong},      {"false", OptionVerdict::wrong},
    {"no", OptionVerdict::wrong},        {"invalid", OptionVerdict::wrong},    {"no match", OptionVerdict::wrong},
    {"not", OptionVerdict::wrong},       {"eliminated", OptionVerdict::wrong}, {"ruled out", OptionVerdict::wrong},
    {"matches", OptionVerdict::right},   {"fits", OptionVerdict::right}};
// Verdicts whatever follows them.
constexpr Sign kStarts[] = {{"does not match", OptionVerdict::wrong},
                            {"doesn't match", OptionVerdict::wrong},
                            {"does not fit", OptionVerdict::wrong},
                            {"doesn't fit", OptionVerdict::wrong},
                            {"is incorrect", OptionVerdict::wrong},
                            {"is wrong", OptionVerdict::wrong},
                            {"is false", OptionVerdict::wrong},
                            {"is not", OptionVerdict::wrong},
                            {"not correct", OptionVerdict::wrong},
                            {"not the", OptionVerdict::wrong},
                            {"this is incorrect", OptionVerdict::wrong},
                            {"this is wrong", OptionVerdict::wrong},
                            {"this is correct", OptionVerdict::right},
                            {"is correct", OptionVerdict::right},
                            {"the correct answer", OptionVerdict::right},
                            {"correct answer", OptionVerdict::right},
                            {"matches the", OptionVerdict::right},
                            {"错误", OptionVerdict::wrong},
                            {"不正确", OptionVerdict::wrong},
                            {"正确", OptionVerdict::right}};

template <typename Signs>
OptionVerdict starting(std::string_view text, const Signs& signs) {
  for (const Sign& sign : signs)
    if (text.starts_with(sign.text)) return sign.verdict;
  return OptionVerdict::none;
}
template <typename Signs>
OptionVerdict ending(std::string_view text, const Signs& signs) {
  for (const Sign& sign : signs)
    if (text.ends_with(sign.text)) return sign.verdict;
  return OptionVerdict::none;
}

// Removes blanks and marks from the front. Returns whether there were marks.
bool skip_marks(std::string_view& text) {
  bool marked = false;
  while (!text.empty()) {
    const bool dash = text.starts_with("\u2014") || text.starts_with("\u2192");
    if (!dash && std::string_view(" ).]:\"'*-(=").find(text[0]) == std::string_view::npos) break;
    marked = marked || text[0] != ' ';
    text.remove_prefix(dash ? 3 : 1);
  }
  return marked;
}

// ": A, C" after "incorrect": the letters that it is about.
bool heads_letters(std::string_view rest) {
  if (!rest.starts_with(": ") || rest.size() < 3 || !is_letter(rest[2])) return false;
  return rest.size() == 3 || std::string_view(",.;)\n").find(rest[3]) != std::string_view::npos ||
         rest.substr(3).starts_with(" and ");
}

OptionVerdict worded(std::string_view text) {
  if (const OptionVerdict verdict = starting(text, kStarts); verdict != OptionVerdict::none) return verdict;
  for (const Sign& word : kWords) {
    if (!text.starts_with(word.text)) continue;
    const std::string_view rest = text.substr(word.text.size());
    const bool ends = rest.empty() || std::string_view(".,;:!)]\n\"'*").find(rest[0]) != std::string_view::npos ||
                      rest.starts_with(" because") || rest.starts_with(" - ") || rest.starts_with(" \u2014") ||
                      rest.starts_with(" (");
    if (ends && !heads_letters(rest)) return word.verdict;
  }
  return OptionVerdict::none;
}

// The verdict of a line on the option whose text begins it, after bullets and boxes.
OptionVerdict verdict_of_line(std::string_view line, std::string_view option, bool words) {
  const std::string_view said = behind(line, "-*+ ");
  const OptionVerdict box = starting(said, kBoxes);
  std::string_view rest = said;
  for (const Sign& sign : kBoxes)
    if (box != OptionVerdict::none && rest.starts_with(sign.text)) rest = behind(rest.substr(sign.text.size()), " ");
  if (!rest.starts_with(option) || option.empty()) return OptionVerdict::none;
  rest.remove_prefix(option.size());
  if (!rest.empty() && is_word_byte(rest[0]) && is_word_byte(option.back())) return OptionVerdict::none;
  if (box != OptionVerdict::none) return trim(rest).empty() ? box : OptionVerdict::none;
  return verdict_behind(rest, "", words);
}

}  // namespace

ListedVerdicts listed_verdicts(std::string_view plain, const std::vector<std::string>& options, bool words) {
  ListedVerdicts found;
  if (plain.size() > kLongestList) return found;
  const std::string lower = to_lower(replace_all(plain, std::vector<std::string>{", ", "; "}, "\n"));
  const std::vector<std::string> lines = split(lower, "\n");
  for (std::size_t i = 0; i < options.size(); ++i) {
    OptionVerdict last = OptionVerdict::none;
    for (const std::string& line : lines)
      if (const OptionVerdict verdict = verdict_of_line(line, options[i], words); verdict != OptionVerdict::none)
        last = verdict;
    if (last != OptionVerdict::none) (last == OptionVerdict::right ? found.right : found.wrong).push_back(i);
  }
  return found;
}

OptionVerdict verdict_behind(std::string_view behind, std::string_view option, bool words) {
  const std::string lower = to_lower(behind.substr(0, option.size() + kWindow));
  std::string_view rest = lower;
  bool parted = skip_marks(rest);
  if (!option.empty() && rest.starts_with(option)) {
    rest.remove_prefix(option.size());
    skip_marks(rest);
    parted = true;
  }
  if (const OptionVerdict verdict = starting(rest, kSigns); verdict != OptionVerdict::none) return verdict;
  return words && parted ? worded(rest) : OptionVerdict::none;
}

OptionVerdict verdict_before(std::string_view before) { return ending(trim(before), kBoxes); }

bool begins_with_box(std::string_view plain) {
  const std::size_t at = plain.find_first_not_of("-* ");
  if (at == plain.npos) return false;
  const std::string_view rest = plain.substr(at);
  if (starting(rest, kBoxes) != OptionVerdict::none) return true;
  return rest.find("\n[ ]") != rest.npos || rest.find("\n- [ ]") != rest.npos || rest.find("\n\u2610") != rest.npos;
}

bool is_verdict_word(std::string_view lower) {
  return std::any_of(std::begin(kWords), std::end(kWords), [&](const Sign& word) { return word.text == lower; });
}

}  // namespace agon::env
