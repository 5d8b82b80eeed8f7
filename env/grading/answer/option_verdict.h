// env/grading/answer/option_verdict.h - reads a text's verdicts on options, right or wrong: "A. cat: incorrect", "B ✅",
// "[x] C". Pure functions of plain texts; each reads only a few words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

enum class OptionVerdict { none, right, wrong };

// The verdict on the option whose letter stands right before `behind`. `option`: its text in lower case, which may
// follow the letter. `words`: words such as "no" and "true" are verdicts, not only signs.
OptionVerdict verdict_behind(std::string_view behind, std::string_view option, bool words);
// The verdict on the option whose letter stands right after `before`: a ticked or an empty box.
OptionVerdict verdict_before(std::string_view before);
// Do tick boxes stand before the letters of a text?
bool begins_with_box(std::string_view plain);
// The verdicts on options that a text lists by their texts: "- [x] dog", "Paris ❌", "cat: yes".
struct ListedVerdicts {
  std::vector<std::size_t> right, wrong;
};
ListedVerdicts listed_verdicts(std::string_view plain, const std::vector<std::string>& options, bool words);
// Is it "yes", "true", "correct" or the like? An option of this text is not a verdict on another.
bool is_verdict_word(std::string_view lower);

}  // namespace agon::env
