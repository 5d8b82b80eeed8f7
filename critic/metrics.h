// critic/metrics.h - measures a critic from its verdicts on labelled steps. Pure functions.
//
// An invalid verdict counts in `invalid`. It also counts as wrong in the strict figures and the first-error figures,
// and nowhere else. A step that the critic cannot judge (Judgement::unknown) counts only in `unknown`. A figure over
// nothing is NaN.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/intervals.h"
#include "core/statistics.h"
#include "critic/critic.h"

namespace agon::critic {

struct JudgedStep {
  std::size_t problem = 0;   // the unit that is resampled for intervals
  std::size_t solution = 0;  // number of the solution within its problem
  int position = 0;          // number of the step in its solution, from 0
  int level = 0;
  std::string kind;    // "perception", "reasoning" or the data's own
  std::string source;  // who wrote it: "expert", a kind of error, "policy"
  bool correct = false;
  Judgement judgement = Judgement::invalid;
  std::optional<double> probability;  // P(correct)
  std::string fault;                  // of an invalid verdict
  bool alone = false;                 // the other steps of its solution have no labels: no first error is
};

struct CriticFigures {
  std::size_t steps = 0, right_steps = 0, invalid = 0, unknown = 0;
  double correct = 0;                                    // share of right steps with a verdict that were judged right
  double error = 0;                                      // share of wrong steps with a verdict that were judged wrong
  double average = 0;                                    // (correct + error) / 2
  double harmonic_mean = 0;                              // 2 correct error / (correct + error); 0 where both are 0
  double accuracy = 0;                                   // share of steps with a verdict that were judged correctly
  double strict_harmonic_mean = 0, strict_accuracy = 0;  // the same, with invalid verdicts counted as wrong
  // Figures of P(correct), over the steps that have one. "Positive" is a right step; for average_precision it is a
  // wrong step, ranked by 1 - P. NaN: all steps are right or all are wrong (average_precision: no step is wrong).
  double auc = 0, average_precision = 0;
  double brier = 0;                                              // mean (P - truth)^2
  double calibration_error = 0, adaptive_calibration_error = 0;  // over ten bins of equal width; of equal counts
  std::vector<ReliabilityBin> reliability;                       // of equal width
};
CriticFigures critic_figures(std::span<const JudgedStep> steps);

// The same per value of `key` for a step ("kind", "level 3", ...), in the order of the keys.
std::map<std::string, CriticFigures> critic_figures_by(std::span<const JudgedStep> steps,
                                                       const std::function<std::string(const JudgedStep&)>& key);

// An interval of each figure over the problems; all steps of a problem are resampled together. Shares of steps get
// Wilson's interval at the effective number of steps, the other figures a bootstrap (core/intervals.h).
std::vector<Interval> intervals_by_problem(std::span<const JudgedStep> steps,
                                           std::span<double CriticFigures::*const> figures, std::uint64_t seed);

// As in ProcessBench: a solution has its first error at step `truth`, or no error; the critic either finds exactly that
// step or fails.
struct FirstError {
  std::optional<int> truth;      // nothing: no error
  std::optional<int> predicted;  // nothing: none found
  bool invalid = false;          // no prediction at all; never right
};
struct FirstErrorFigures {
  std::size_t with_error = 0, without_error = 0, invalid = 0;
  double error = 0, correct = 0;  // accuracy on solutions with and without an error
  double f1 = 0;                  // their harmonic mean
};
FirstErrorFigures first_error_figures(std::span<const FirstError> solutions);
// The first step of each solution that was judged wrong. A solution is invalid if an earlier verdict in it is invalid
// or unknown.
std::vector<FirstError> first_errors(std::span<const JudgedStep> steps);

// Whether some position of a solution has several steps to choose from. If so, `regret` is the figure to use, else
// first_errors.
bool has_candidates(std::span<const JudgedStep> steps);

// What choosing by this critic loses against choosing by the labels. Over groups of candidate steps (same solution and
// position): the share of groups with a right step minus the share whose most probable step is right. A step without a
// probability is chosen last; ties are drawn with equal chance.
double regret(std::span<const JudgedStep> steps);

double harmonic_mean(double a, double b);  // 0 where both are 0

}  // namespace agon::critic
