// env/grading/rules/place_rule.h - graders whose gold answer is a box.
#pragma once

#include <memory>

#include "env/grading/rules/answer_rule.h"

namespace agon::env {

// Reward: the overlap of the boxes (env/grading/box.h), clipped at 0.
std::unique_ptr<AnswerRule> make_iou_rule();
std::unique_ptr<AnswerRule> make_giou_rule();
std::unique_ptr<AnswerRule> make_ciou_rule();
// Reward: 1 if the point, or the centre of the box answered, lies in the gold box.
std::unique_ptr<AnswerRule> make_point_rule();

}  // namespace agon::env
