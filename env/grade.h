// env/grade.h - graders: the reward of an answer against gold. Pure functions; rules in reference order: exact,
// normalised exact, number, multiple choice, token F1, boxes.
#pragma once

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
// The number a text is: thousands separators, %, $, a trailing unit word and \boxed are tolerated; fractions a/b too.
std::optional<double> parse_number(std::string_view text);
bool number_match(std::string_view answer, std::string_view gold, double relative = 1e-6, double absolute = 1e-9);
// Letter of a multiple-choice answer ("B", "(b)", "B.", "the answer is B", or the option's text); nothing if none or
// several fit.
std::optional<char> parse_choice(std::string_view answer, const std::vector<std::string>& options);
enum class Overlap { set, multiset };  // set: Visual-ARFT; multiset: SQuAD
double token_f1(std::string_view answer, std::string_view gold, Overlap overlap = Overlap::set);

// A grader chosen by name, as the jsonl suite names it: "exact", "normalized", "number", "choice", "f1", "f1_multiset",
// "iou", "giou", "ciou", "point_in_box", "gui_step". `gold` is a JSON string, number, or array as that grader needs;
// `options` for choice. Throws Error at construction for an unknown name (nearest suggested) or a gold that does not
// fit; grading never throws.
class Grader {
 public:
  Grader(const std::string& name, const Json& gold, std::vector<std::string> options = {});
  double grade(std::string_view answer) const;  // reward in [0, 1] (giou, ciou clipped at 0)
  bool correct(double reward) const;            // iou family: > 0.5; f1: >= 0.5; others: 1
  static std::vector<std::string> names();

 private:
  std::string name_;
  Json gold_;
  std::vector<std::string> options_;
};

}  // namespace agon::env
