// env/grading/published_rules.h - how published evaluations normalise and compare answers: SQuAD, Visual-ARFT, MAT.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

// SQuAD, Visual-ARFT: lower case, ASCII punctuation dropped, articles a/an/the dropped, white space collapsed.
std::string normalize_answer(std::string_view text);
bool normalized_match(std::string_view answer, std::string_view gold);
enum class Overlap { set, multiset };  // set: Visual-ARFT; multiset: SQuAD
double token_f1(std::string_view answer, std::string_view gold, Overlap overlap = Overlap::set);

// Exact match and F1 as MAT-Search is scored: normalised, with the overlap of sets, the best over the gold answers; an
// exact match has F1 1. MAT-Coding also drops full-width punctuation. If the answer or the gold has a Chinese
// character, it takes each character as a word. Unlike in the published evaluation, an answer that normalisation
// empties ("The") is an exact match only if it equals the gold before normalisation, and never if it is blank.
struct AnswerScore {
  bool exact = false;
  double f1 = 0;
};
enum class ScoreRule { mat_search, mat_coding };
AnswerScore score_answer(std::string_view answer, const std::vector<std::string>& golds,
                         ScoreRule rule = ScoreRule::mat_search);

}  // namespace agon::env
