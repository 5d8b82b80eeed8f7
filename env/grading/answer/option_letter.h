// env/grading/answer/option_letter.h - reads options that are named by their letters: B, (b), "option B". Pure
// functions; nothing throws for any text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "env/grading/answer/option_text.h"

namespace agon::env {

inline constexpr std::size_t kLetters = 26;
inline constexpr std::string_view kLetterMarks = "()[]{}\"'.,:;!<>* ";  // may surround a letter that stands alone

// The index of the option that a letter names: by A, B, C, ..; beyond these, if all options are single letters (P,
// Q, R, S), the option with that letter.
std::optional<std::size_t> place_of(char letter, const Options& options);
// The option that a text names with nothing but one letter and marks: "B", "(b)", "B.".
std::optional<std::size_t> lone_letter(std::string_view text, const Options& options);
// Does the text after a letter name a second one: "B or C", "A, B"?
bool names_another(std::string_view rest, const Options& options);
// Words before a letter that say that it names an option.
inline constexpr std::string_view kLetterLabels[] = {"option",      "choice",  "answer", "letter",
                                                     "alternative", "antwort", "cevap"};

}  // namespace agon::env
