// env/grading/rules/action_rule.h - the grader whose gold answer is a GUI action (env/grading/gui_action.h).
#pragma once

#include <memory>

#include "env/grading/rules/answer_rule.h"

namespace agon::env {

std::unique_ptr<AnswerRule> make_action_rule();  // match_gui_action

}  // namespace agon::env
