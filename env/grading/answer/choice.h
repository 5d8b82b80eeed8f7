// env/grading/answer/choice.h - finds the option that an answer to a multiple-choice question names. Pure functions;
// nothing throws for any text.
// env/grading/rules/choice_rule.h says when two answers agree.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

// The options without their letters, if each begins with its own ("A. cat", "(B) dog"); else the options as they are.
std::vector<std::string> without_labels(std::vector<std::string> options);

// The indices of the options that a gold answer fits: by its exact text and by its letter (A is the first); if none, by
// its text in any case, then by its words (answer_words). Several indices: the gold is ambiguous.
std::vector<std::size_t> options_of_gold(std::string_view gold, const std::vector<std::string>& options);

// Returns the option that a plain text names; nullopt if it names none or several. The first of these that names one
// counts:
//   1. the whole text: an option's text, exactly; a letter ("B", "(b)", "B.", "option B", "B) cat"); an option's text
//      in any case, by its words, or as an equal number
//   2. a correction (env/grading/answer/reason.h), then the option that the end of the text prefers after "but" and
//      the like
//   3. the value after a phrase such as "the final answer is" (answer_phrases), read as in 1, or the letter that it
//      begins with
//   4. an option's text at the start of the reply ("Yes, line B crosses.")
//   5. the only option that the text marks as right, then the only right one in a list of verdicts
//      (env/grading/answer/option_verdict.h)
//   6. the last "B is correct"; then the last "I choose B", "so B" or "it must be B"; then the only letter with
//      "B fits"; then a capital letter that ends the text; then an option that the first line names; then the only
//      letter in brackets or after "option"; then the only capital letter that is a word
//   7. the last line, read as in 1; then a verdict at the start of the reply
//   8. the option equal to the number that the text means, then the only option whose words the text holds, then an
//      option such as "None of the above"
//   9. the option that the last line concludes with, then the one that the wording of the text concludes with
//      (env/grading/answer/concluded.h)
// It does not read as letters: I and A as English words; letters that the text rules out (env/grading/answer/denied.h);
// letters that name a thing ("line B"), unless the options are such names. If "right" is an option, "That's right, .."
// at the start is skipped. If all options are equations such as "x = 3", their right sides are tried last. Without
// options, letters run from A to Z.
std::optional<std::size_t> read_choice(std::string_view plain, const std::vector<std::string>& options);

}  // namespace agon::env
