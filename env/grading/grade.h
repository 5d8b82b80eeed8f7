// env/grading/grade.h - grading: what an answer is worth against gold. docs/grading.md states the rule for users.
//   1. Normalise    a response becomes plain text: Unicode, LaTeX and Markdown that only change its looks go
//   2. Extract      the strongest evidence counts: the last <answer>, else the last \boxed{}, else the whole; in it
//                   "the final answer is ..", "the answer is .."; of several boxes, points or phrases the last
//   3. Compare      by the rule that the task names: class Grader
// Steps 1 and 2 are env/grading/answer/text.h; numbers, options, places and actions are read by
// env/grading/answer/number.h, env/grading/answer/choice.h, env/grading/box.h and env/grading/gui_action.h. The
// published rules of SQuAD and MAT at the end of this header stay as they were published, and normalise nothing else.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"
#include "env/grading/answer/number.h"

namespace agon::env {

class AnswerRule;  // how one grader reads and compares, in grader.cc

// The scale of points and boxes: pixels of the picture, or shares of its sides from 0 to 1 or 0 to 1000.
enum class Coordinates { pixels, unit, thousandths };

// What a task says besides its gold. A grader that does not use one of these refuses it, except `options`.
struct GradeOptions {
  std::vector<std::string> options;                 // choice: the texts of A, B, C, ...
  std::optional<Tolerance> tolerance;               // number; gui_step: `relative` alone, a share of the screen
  std::optional<Coordinates> coordinates;           // of the gold and of the response
  std::optional<Coordinates> response_coordinates;  // of the response, where it is on another scale
  std::optional<std::pair<double, double>> size;    // of the picture, where pixels and shares meet
};
// The keys of a task that GradeOptions come from.
inline const std::vector<std::string> kGradeKeys = {"options", "tolerance", "coordinates", "response_coordinates",
                                                    "size"};
// From a task's JSON object: "options": [..]; "tolerance": 0.05 (relative) or {"relative": .., "absolute": ..};
// "coordinates", "response_coordinates": "pixels", "0-1", "0-1000"; "size": [width, height]. null is not there. Throws
// Error for other values.
GradeOptions grade_options_of(const Json& task);

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
//   f1           1 where answer_form is equal; else F1 of answer_words, repeated words counted (SQuAD). f1_multiset:
//   the
//                same, an older name
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

// --- Single rules, for suites that know what they ask ---

bool exact_match(std::string_view answer, std::string_view gold);  // after trimming
// The number that a whole text is, or that its last \boxed{} holds (env/grading/answer/number.h); nothing for other
// text.
std::optional<double> parse_number(std::string_view text);
bool number_match(std::string_view answer, std::string_view gold, const std::optional<Tolerance>& tolerance = {});

// --- Published rules ---

// SQuAD, Visual-ARFT: lower case, ASCII punctuation dropped, articles a/an/the dropped, white space collapsed.
std::string normalize_answer(std::string_view text);
bool normalized_match(std::string_view answer, std::string_view gold);
enum class Overlap { set, multiset };  // set: Visual-ARFT; multiset: SQuAD
double token_f1(std::string_view answer, std::string_view gold, Overlap overlap = Overlap::set);

// Exact match and F1 as MAT-Search is scored: the best of the gold answers, normalised, with the overlap of sets; an
// exact match has F1 1. MAT-Coding drops full-width punctuation besides, and where the answer or the gold has a Chinese
// character, their characters are the words. Unlike in the published evaluation, an answer of which normalisation
// leaves nothing is never an exact match.
struct AnswerScore {
  bool exact = false;
  double f1 = 0;
};
enum class ScoreRule { mat_search, mat_coding };
AnswerScore score_answer(std::string_view answer, const std::vector<std::string>& golds,
                         ScoreRule rule = ScoreRule::mat_search);

}  // namespace agon::env
