// env/grading/answer/option_letter.h - options named by their letters: B, (b), "option B". Pure functions; nothing
// throws for any text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "env/grading/answer/option_text.h"

namespace agon::env {

inline constexpr std::size_t kLetters = 26;
inline constexpr std::string_view kLetterMarks = "()[]{}\"'.,:;!<>* ";  // around a letter that stands alone

// The place of a letter among the options, A, B, C, .., or of the option that is this letter.
std::optional<std::size_t> place_of(char letter, const Options& options);
// "B", "(b)", "B.": nothing but one letter and marks.
std::optional<std::size_t> lone_letter(std::string_view text, const Options& options);
// Does what stands behind a letter name a second one: "B or C", "A, B"?
bool names_another(std::string_view rest, const Options& options);
// Words before a letter that say that it is one.
inline constexpr std::string_view kLetterLabels[] = {"option",      "choice",  "answer", "letter",
                                                     "alternative", "antwort", "cevap"};

}  // namespace agon::env
