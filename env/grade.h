// env/grade.h - graders: the reward of an answer against gold. Rules in the order of reference: exact, normalised
// exact, number, multiple choice, token F1; boxes are in env/box.h, GUI steps in env/gui_action.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace agon::env {

bool exact_match(std::string_view answer, std::string_view gold);  // after trimming
// Lower case, ASCII punctuation dropped, articles a/an/the dropped, white space collapsed (SQuAD, Visual-ARFT).
std::string normalize_answer(std::string_view text);
bool normalized_match(std::string_view answer, std::string_view gold);
// The number a text is: thousands separators, %, $, a trailing unit word and \boxed are tolerated (and dropped: "50%"
// is 50); fractions a/b and \frac{a}{b} too. Nothing for other text, and for what a double cannot hold.
std::optional<double> parse_number(std::string_view text);
bool number_match(std::string_view answer, std::string_view gold, double relative = 1e-6, double absolute = 1e-9);
// Letter of a multiple-choice answer ("B", "(b)", "B.", "the answer is B", or the option's text); nothing if none or
// several fit. Letters run from A; without options any of A..Z is one.
std::optional<char> parse_choice(std::string_view answer, const std::vector<std::string>& options);
enum class Overlap { set, multiset };  // set: Visual-ARFT; multiset: SQuAD
double token_f1(std::string_view answer, std::string_view gold, Overlap overlap = Overlap::set);

// Exact match and F1 as MAT-Search is scored: the best of the gold answers, normalised, with the overlap of sets; an
// exact match has F1 1. MAT-Coding drops full-width punctuation besides, and where the answer or the gold has a Chinese
// character, their characters are the words.
struct AnswerScore {
  bool exact = false;
  double f1 = 0;
};
enum class ScoreRule { mat_search, mat_coding };
AnswerScore score_answer(std::string_view answer, const std::vector<std::string>& golds,
                         ScoreRule rule = ScoreRule::mat_search);

// A grader chosen by name, as the jsonl suite names it. `gold` by grader:
//   exact, normalized, f1, f1_multiset  a string, a number, or several of them, of which the best counts
//   number                              the same, each of which parse_number reads
//   choice                              a letter, or the text of an option; needs `options`
//   iou, giou, ciou, point_in_box       a box: [x1,y1,x2,y2], or a string that holds one
//   gui_step                            an action of env/gui_action.h
// point_in_box reads a point "[x,y]" or "(x,y)", a CLICK, or a box, which counts by its centre.
// Throws Error at construction for an unknown name (nearest suggested) or a gold that does not fit; grading never
// throws.
class Grader {
 public:
  Grader(const std::string& name, const Json& gold, const std::vector<std::string>& options = {});
  double grade(std::string_view answer) const { return grade_(answer); }  // in [0, 1] (giou, ciou clipped at 0)
  bool correct(double reward) const;                                      // iou family: > 0.5; f1: >= 0.5; others: 1
  static std::vector<std::string> names();

 private:
  std::function<double(std::string_view)> grade_;
  double threshold_ = 1;
  bool strict_ = false;  // above the threshold, not at it
};

}  // namespace agon::env
