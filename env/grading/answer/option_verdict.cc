#include "env/grading/answer/option_verdict.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"

namespace agon::env {
namespace {

constexpr std::size_t kWindow = 48, kLongestList = 4000;

struct Sign {
  std::string_view text;
  Verdict verdict;
};
constexpr Sign kSigns[] = {{"✓", Verdict::right}, {"✔", Verdict::right}, {"✅", Verdict::right},
                           {"☑", Verdict::right}, {"✗", Verdict::wrong}, {"✘", Verdict::wrong},
                           {"❌", Verdict::wrong}, {"×", Verdict::wrong}, {"☐", Verdict::wrong}};
constexpr Sign kBoxes[] = {{"☐", Verdict::wrong},   {"☑", Verdict::right},   {"[ ]", Verdict::wrong},
                           {"[x]", Verdict::right}, {"[X]", Verdict::right}, {"✅", Verdict::right}};
// At the end of a clause.
constexpr Sign kWords[] = {{"correct", Verdict::right},   {"right", Verdict::right},      {"true", Verdict::right},
                           {"yes", Verdict::right},       {"match", Verdict::right},      {"valid", Verdict::right},
                           {"incorrect", Verdict::wrong}, {"wrong", Verdict::wrong},      {"false", Verdict::wrong},
                           {"no", Verdict::wrong},        {"invalid", Verdict::wrong},    {"no match", Verdict::wrong},
                           {"not", Verdict::wrong},       {"eliminated", Verdict::wrong}, {"ruled out", Verdict::wrong},
                           {"matches", Verdict::right},   {"fits", Verdict::right}};
// Whatever follows them.
constexpr Sign kStarts[] = {{"does not match", Verdict::wrong},
                            {"doesn't match", Verdict::wrong},
                            {"does not fit", Verdict::wrong},
                            {"doesn't fit", Verdict::wrong},
                            {"is incorrect", Verdict::wrong},
                            {"is wrong", Verdict::wrong},
                            {"is false", Verdict::wrong},
                            {"is not", Verdict::wrong},
                            {"not correct", Verdict::wrong},
                            {"not the", Verdict::wrong},
                            {"this is incorrect", Verdict::wrong},
                            {"this is wrong", Verdict::wrong},
                            {"this is correct", Verdict::right},
                            {"is correct", Verdict::right},
                            {"the correct answer", Verdict::right},
                            {"correct answer", Verdict::right},
                            {"matches the", Verdict::right},
                            {"错误", Verdict::wrong},
                            {"不正确", Verdict::wrong},
                            {"正确", Verdict::right}};

template <typename Signs>
Verdict starting(std::string_view text, const Signs& signs) {
  for (const Sign& sign : signs)
    if (text.starts_with(sign.text)) return sign.verdict;
  return Verdict::none;
}
template <typename Signs>
Verdict ending(std::string_view text, const Signs& signs) {
  for (const Sign& sign : signs)
    if (text.ends_with(sign.text)) return sign.verdict;
  return Verdict::none;
}

// Takes blanks and marks from the front; whether there was more than blanks.
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

Verdict worded(std::string_view text) {
  if (const Verdict verdict = starting(text, kStarts); verdict != Verdict::none) return verdict;
  for (const Sign& word : kWords) {
    if (!text.starts_with(word.text)) continue;
    const std::string_view rest = text.substr(word.text.size());
    const bool ends = rest.empty() || std::string_view(".,;:!)]\n\"'*").find(rest[0]) != std::string_view::npos ||
                      rest.starts_with(" because") || rest.starts_with(" - ") || rest.starts_with(" \u2014");
    if (ends) return word.verdict;
  }
  return Verdict::none;
}

// The line's verdict on an option whose text it begins with, bullets, numbers and boxes left out.
Verdict verdict_of_line(std::string_view line, std::string_view option, bool words) {
  const std::string_view said = behind(line, "-*+ ");
  const Verdict box = starting(said, kBoxes);
  std::string_view rest = said;
  for (const Sign& sign : kBoxes)
    if (box != Verdict::none && rest.starts_with(sign.text)) rest = behind(rest.substr(sign.text.size()), " ");
  if (!rest.starts_with(option) || option.empty()) return Verdict::none;
  rest.remove_prefix(option.size());
  if (!rest.empty() && is_word_byte(rest[0]) && is_word_byte(option.back())) return Verdict::none;
  if (box != Verdict::none) return trim(rest).empty() ? box : Verdict::none;
  return verdict_behind(rest, "", words);
}

}  // namespace

ListedVerdicts listed_verdicts(std::string_view plain, const std::vector<std::string>& options, bool words) {
  ListedVerdicts found;
  if (plain.size() > kLongestList) return found;
  const std::string lower = to_lower(replace_all(plain, std::vector<std::string>{", ", "; "}, "\n"));
  const std::vector<std::string> lines = split(lower, "\n");
  for (std::size_t i = 0; i < options.size(); ++i) {
    Verdict last = Verdict::none;
    for (const std::string& line : lines)
      if (const Verdict verdict = verdict_of_line(line, options[i], words); verdict != Verdict::none) last = verdict;
    if (last != Verdict::none) (last == Verdict::right ? found.right : found.wrong).push_back(i);
  }
  return found;
}

Verdict verdict_behind(std::string_view behind, std::string_view option, bool words) {
  const std::string lower = to_lower(behind.substr(0, option.size() + kWindow));
  std::string_view rest = lower;
  bool parted = skip_marks(rest);
  if (!option.empty() && rest.starts_with(option)) {
    rest.remove_prefix(option.size());
    skip_marks(rest);
    parted = true;
  }
  if (const Verdict verdict = starting(rest, kSigns); verdict != Verdict::none) return verdict;
  return words && parted ? worded(rest) : Verdict::none;
}

Verdict verdict_before(std::string_view before) { return ending(trim(before), kBoxes); }

bool begins_with_box(std::string_view plain) {
  const std::size_t at = plain.find_first_not_of("-* ");
  if (at == plain.npos) return false;
  const std::string_view rest = plain.substr(at);
  if (starting(rest, kBoxes) != Verdict::none) return true;
  return rest.find("\n[ ]") != rest.npos || rest.find("\n- [ ]") != rest.npos || rest.find("\n\u2610") != rest.npos;
}

bool is_verdict_word(std::string_view lower) {
  return std::any_of(std::begin(kWords), std::end(kWords), [&](const Sign& word) { return word.text == lower; });
}

}  // namespace agon::env
