// env/grading/single_rules.h - single rules of grading, for callers that know which rule they need.
// env/grading/grader.h has all rules by name.
#pragma once

#include <optional>
#include <string_view>

#include "env/grading/answer/number/number.h"

namespace agon::env {

bool exact_match(std::string_view answer, std::string_view gold);  // after trimming
// The value of a text that is a number, or whose last \boxed{} holds one (env/grading/answer/number/number.h); nullopt
// for other text.
std::optional<double> parse_number(std::string_view text);
bool number_match(std::string_view answer, std::string_view gold, const std::optional<Tolerance>& tolerance = {});

}  // namespace agon::env
