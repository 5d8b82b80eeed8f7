// env/grading/grader.h - grading: what an answer is worth against gold. docs/grading.md states the rule for users.
//   1. Normalise    a response becomes plain text: Unicode, LaTeX and Markdown that only change its looks go
//                   (env/grading/answer/plain_text.h)
//   2. Extract      the strongest evidence counts: the last <answer>, else the last \boxed{}, else the whole; in it
//                   "the final answer is ..", "the answer is .."; of several boxes, points or phrases the last
//                   (env/grading/answer/part.h, phrases.h)
//   3. Compare      by the rule that the task names (env/grading/rules/). Numbers, options, places and actions are read
//                   by env/grading/answer/number/number.h and choice.h, env/grading/box_text.h and
//                   env/grading/gui_action.h
// The published rules of SQuAD and MAT (env/grading/published_rules.h) stay as they were published, and normalise
// nothing else.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "env/grading/grade_options.h"

namespace agon::env {

class AnswerRule;  // env/grading/rules/answer_rule.h

struct Grade {
  double reward = 0;  // in [0, 1] (giou, ciou clipped at 0)
  bool correct = false;
  std::optional<std::string> extracted;  // the answer as it was read; nothing: none was found
  std::string why;                       // one line for a person
  std::vector<std::string> steps;        // how it came to that
};

// A grader chosen by name. `gold` by grader:
//   exact, normalized, f1, f1_multiset  a text, a number, or several of them, of which the best counts
//   number                              the same, each of which is a number
//   choice                              a letter, or the text of an option; needs `options`
//   iou, giou, ciou, point_in_box       a box: [x1,y1,x2,y2], or a string that holds one
//   gui_step                            an action of env/grading/gui_action.h
// Rules:
//   exact        plain texts are equal, letter by letter
//   normalized   answer_form is equal
//   f1           1 where answer_form is equal; else F1 of answer_words, repeated words counted (SQuAD)
//   f1_multiset  the same, an older name
//   number       equal_numbers
//   choice       the same option
//   iou, ..      the overlap of the boxes. Right from 0.5 on, as f1
//   point_in_box the point, or the centre of the box answered, lies in the gold box
//   gui_step     match_gui_action
// An answer that is empty, or that the rule cannot read, is worth 0 and never an error. Throws Error at construction
// for an unknown name (nearest suggested), a gold that does not fit, is empty or fits two options, and options that do
// nothing or lack something.
class Grader {
 public:
  Grader(const std::string& name, const Json& gold, const std::vector<std::string>& options = {});
  Grader(const std::string& name, const Json& gold, const GradeOptions& options);
  // `response`: all that was written, or an answer already taken out of it. Never throws.
  double grade(std::string_view response) const { return judge(response).reward; }
  Grade judge(std::string_view response) const;
  bool correct(double reward) const;  // the iou family and f1: >= 0.5; others: 1
  static std::vector<std::string> names();

 private:
  std::shared_ptr<const AnswerRule> rule_;
  double threshold_ = 1;
};

// How a task is graded, without its gold: {"grader": NAME, and of kGradeKeys what it has}. For TaskInfo::grading.
Json grading_of(const std::string& grader, const Json& task);
// Which responses give the same answer under that rule: the number of each one's side, in order of appearance. Nothing
// for one that is empty or that the rule cannot read. Boxes are the same where their IoU is above 0.5.
std::vector<std::optional<std::size_t>> sides_of(const std::vector<std::string>& responses, const Json& grading);

}  // namespace agon::env
