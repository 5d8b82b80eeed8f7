// env/grading/rules/number_rule.h - the grader whose gold answers are numbers. env/grading/answer/number/number.h
// says which numbers are equal.
#pragma once

#include <memory>

#include "env/grading/rules/answer_rule.h"

namespace agon::env {

std::unique_ptr<AnswerRule> make_number_rule();  // equal_numbers, with the tolerance of the task

}  // namespace agon::env
