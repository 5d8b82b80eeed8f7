// env/grading/rules/choice_rule.h - the grader whose gold answer is one of several options.
#pragma once

#include <memory>

#include "env/grading/rules/answer_rule.h"

namespace agon::env {

std::unique_ptr<AnswerRule> make_choice_rule();  // the same option; needs the texts of the options

}  // namespace agon::env
