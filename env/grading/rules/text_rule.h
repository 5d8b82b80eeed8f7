// env/grading/rules/text_rule.h - graders whose gold answers are texts.
#pragma once

#include <memory>

#include "env/grading/rules/answer_rule.h"

namespace agon::env {

std::unique_ptr<AnswerRule> make_exact_rule();       // plain texts are equal, letter by letter
std::unique_ptr<AnswerRule> make_normalized_rule();  // answer_form is equal
std::unique_ptr<AnswerRule> make_f1_rule();          // F1 of answer_words; 1 if answer_form is equal

}  // namespace agon::env
