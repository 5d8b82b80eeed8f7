// env/grading/answer/only_number.h - the number of a text that contains only one. Pure functions of plain texts.
#pragma once

#include <optional>
#include <string_view>

#include "env/grading/answer/number/number.h"

namespace agon::env {

// The one number of a text, if all that it holds are equal. Not counted: those within words and names (H2O, x1, "Table
// 3"), and those for which is_no_answer holds. Nothing for sums, and for digits that do not form one number ("1.2.3",
// "3x").
std::optional<Number> only_number(std::string_view text);
// Of a number between two texts: "not 5", "5 is wrong"; bounds, "x > 5" and "5 or more"; "sin 5".
bool is_no_answer(std::string_view before, std::string_view behind);

// "y = 4x", "f(x) = 5x": is the number between them a factor of the variable x, and not "4 times"?
bool is_multiple_of_x(std::string_view before, std::string_view behind);

}  // namespace agon::env
