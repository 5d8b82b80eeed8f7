// env/grading/answer/only_number.h - finds the number of a text that contains only one. Pure functions of plain texts.
#pragma once

#include <optional>
#include <string_view>

#include "env/grading/answer/number/number.h"

namespace agon::env {

// The number of a text, if all its numbers are equal. Numbers within words and names (H2O, x1, "Table 3") do not count,
// nor do those for which is_no_answer holds. nullopt for sums, and for digits that do not form one number ("1.2.3",
// "3x").
std::optional<Number> only_number(std::string_view text);
// Is the number between two texts not an answer: denied ("not 5", "5 is wrong"), a bound ("x > 5", "5 or more"), or
// part of a name or another value ("Table 5", "sin 5")?
bool is_no_answer(std::string_view before, std::string_view behind);

// Is the number between two texts a factor of the variable x ("y = 4x", "f(x) = 5x"), rather than "4 times"?
bool is_multiple_of_x(std::string_view before, std::string_view behind);

}  // namespace agon::env
