// env/grading/answer/choice.h - which of several options an answer names. Pure functions; nothing throws for any text.
// env/grading/rules/choice_rule.h says when two answers agree.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

// The options' texts: where each begins with its own letter ("A. cat", "(B) dog"), what stands behind it.
std::vector<std::string> without_labels(std::vector<std::string> options);

// The options that a gold answer fits: by its text, exactly, and by its letter (A is the first); without those, by its
// text in any case, then by its words (answer_form). One place: that option. Several: the gold is ambiguous.
std::vector<std::size_t> options_of_gold(std::string_view gold, const std::vector<std::string>& options);

// The option that a plain text names; nothing if none or several fit. The first of these that names one:
//   1. the whole text: an option's text, exactly; a letter ("B", "(b)", "B.", "option B", "B) cat"); an option's text
//      in any case, by its words, or as an equal number
//   2. a correction (env/grading/answer/reason.h), then what the end of the text prefers behind "but" and the like
//   3. what stands behind a phrase such as "the final answer is" (answer_phrases), read as in 1, or the letter that it
//      begins with
//   4. an option's text that the reply begins with ("Yes, line B crosses.")
//   5. the only option that the text marks as right, then the only one on a list of verdicts
//      (env/grading/answer/option_verdict.h)
//   6. "B is correct"; then "I choose B", "so B", "it must be B"; the last of either; then the only letter in brackets
//   or
//      behind "option"; then the only capital letter that is a word
//   7. the last line, read as in 1; then a verdict that the reply begins with
//   8. the option that is the number which the text means, then the only option whose words the text holds, then the
//      option that says none of the others
//   9. what the last line concludes with, then what the last sentence concludes with or the first one gives
//      (env/grading/answer/concluded.h)
// I and A as English words, letters that the text rules out (env/grading/answer/denied.h), and letters that name a
// thing ("line B") where the options are no such names, are no letters. Where "right" is an option, "That's right, .."
// at the start is left out. Where all options are equations such as "x = 3", their right sides are looked for last.
// Without options, letters run from A to Z.
std::optional<std::size_t> read_choice(std::string_view plain, const std::vector<std::string>& options);

}  // namespace agon::env
