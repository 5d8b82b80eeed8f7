// env/grading/answer/option_verdict.h - what a text that goes through the options says about each: "A. cat: incorrect",
// "B ✅", "[x] C". Pure functions of plain texts; each reads only a few words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

enum class OptionVerdict { none, right, wrong };

// Of the option whose letter stands right before `behind`; `option`: its text in lower case, which may follow the
// letter. `words`: words such as "no" and "true" are verdicts; without it, signs alone are.
OptionVerdict verdict_behind(std::string_view behind, std::string_view option, bool words);
// Of the option whose letter stands right behind `before`: a box that is ticked, or empty.
OptionVerdict verdict_before(std::string_view before);
// Do boxes stand before the letters of a text?
bool begins_with_box(std::string_view plain);
// Of options that a text lists by their texts: "- [x] dog", "Paris ❌", "cat: yes".
struct ListedVerdicts {
  std::vector<std::size_t> right, wrong;
};
ListedVerdicts listed_verdicts(std::string_view plain, const std::vector<std::string>& options, bool words);
// "yes", "true", "correct" and the like: an option of this text is not a verdict on another.
bool is_verdict_word(std::string_view lower);

}  // namespace agon::env
