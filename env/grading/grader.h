// env/grading/grader.h - graders: each compares a response with the gold answer and returns a reward in [0, 1].
// docs/grading.md states the rules for users. A grader works in three steps:
//   1. Normalise    turn the response into plain text, without Unicode, LaTeX and Markdown that only change its looks
//                   (env/grading/answer/plain_text.h)
//   2. Extract      take the strongest evidence: the last <answer>, else the last \boxed{}, else the whole; within it
//                   "the final answer is ..", "the answer is .."; of several boxes, points or phrases the last
//                   (env/grading/answer/part.h, phrases.h)
//   3. Compare      apply the rule that the task names (env/grading/rules/). Numbers, options, places and actions are
//                   read by env/grading/answer/number/number.h and choice.h, env/grading/box_text.h and
//                   env/grading/gui_action.h
// The published rules of SQuAD and MAT (env/grading/published_rules.h) skip step 1 and apply only their own
// normalisation.
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
  std::optional<std::string> extracted;  // the answer as it was read; nullopt: none was found
  std::string why;                       // one line for a reader
  std::vector<std::string> steps;        // how the grade came about, one line per step
};

// A grader chosen by name. `gold` by grader:
//   exact, normalized, f1, f1_multiset  a text, a number, or a list of them; the best match counts
//   number                              the same, but each of them is a number
//   choice                              a letter, or the text of an option; needs `options`
//   iou, giou, ciou, point_in_box       a box: [x1,y1,x2,y2], or a string that holds one
//   gui_step                            an action of env/grading/gui_action.h
// Rules:
//   exact        plain texts are equal, letter by letter
//   normalized   answer_form is equal
//   f1           1 if answer_form is equal; else F1 of answer_words, repeated words counted (SQuAD)
//   f1_multiset  an older name of f1
//   number       equal_numbers
//   choice       the same option
//   iou, ..      the overlap of the boxes. Correct from 0.5 on, like f1
//   point_in_box the point, or the centre of the box answered, lies in the gold box
//   gui_step     match_gui_action
// An answer that is empty, or that the rule cannot read, gets reward 0; it is never an error. The constructor throws
// Error for an unknown name (suggesting the nearest), for a gold that does not fit the grader, is empty or fits two
// options, and for settings that are missing or that the grader does not use.
class Grader {
 public:
  Grader(const std::string& name, const Json& gold, const std::vector<std::string>& options = {});
  Grader(const std::string& name, const Json& gold, const GradeOptions& options);
  // `response`: the whole response, or an answer already extracted from it. Never throws.
  double grade(std::string_view response) const { return judge(response).reward; }
  Grade judge(std::string_view response) const;
  bool correct(double reward) const;  // the iou family and f1: >= 0.5; others: 1
  static std::vector<std::string> names();

 private:
  std::shared_ptr<const AnswerRule> rule_;
  double threshold_ = 1;
};

// How a task is graded, without its gold, for TaskInfo::grading: {"grader": NAME} and its keys among kGradeKeys.
Json grading_of(const std::string& grader, const Json& task);
// Groups responses that give the same answer under that rule. Returns the number of each response's group (its side),
// in order of appearance; nullopt if it is empty or the rule cannot read it. Boxes are the same if their IoU is above
// 0.5.
std::vector<std::optional<std::size_t>> sides_of(const std::vector<std::string>& responses, const Json& grading);

}  // namespace agon::env
