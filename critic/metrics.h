// critic/metrics.h - measures a critic from its verdicts on labelled steps. Pure functions.
//
// Steps with an invalid verdict, and steps that the critic cannot judge (Judgement::unknown), count in `steps` and in
// `invalid` or `unknown`. The strict figures count invalid verdicts as wrong and leave out unknown ones; a solution
// with either before the first step judged wrong fails in the first-error figures; the other shares leave out both. A
// figure without any steps is NaN.
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
  std::size_t problem = 0;   // number of the problem, the unit that intervals resample
  std::size_t solution = 0;  // number of the solution within its problem
  int position = 0;          // number of the step in its solution, from 0
  int level = 0;
  std::string kind;    // "perception", "reasoning" or a kind that the data name
  std::string source;  // origin of the step: "expert", a kind of error, "policy"
  bool correct = false;
  Judgement judgement = Judgement::invalid;
  std::optional<double> probability;  // P(correct)
  std::string fault;                  // reason, if the verdict is invalid
  bool alone = false;                 // the other steps of its solution have no labels, so it has no first error
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

// The same figures per value of `key` for a step ("kind", "level 3", ...), in the order of the keys.
std::map<std::string, CriticFigures> critic_figures_by(std::span<const JudgedStep> steps,
                                                       const std::function<std::string(const JudgedStep&)>& key);

// An interval of each figure over the problems; all steps of a problem are resampled together. `correct`,
// `error` and `accuracy` get Wilson's interval at the effective number of steps, the other figures a bootstrap
// (core/intervals.h).
std::vector<Interval> intervals_by_problem(std::span<const JudgedStep> steps,
                                           std::span<double CriticFigures::*const> figures, std::uint64_t seed);

// As in ProcessBench: a solution has its first error at step `truth`, or no error; the critic either finds exactly that
// step or fails.
struct FirstError {
  std::optional<int> truth;      // nothing: the solution has no error
  std::optional<int> predicted;  // nothing: the critic found no error
  bool invalid = false;          // the critic made no prediction; never counts as right
};
struct FirstErrorFigures {
  std::size_t with_error = 0, without_error = 0, invalid = 0;
  double error = 0, correct = 0;  // accuracy on solutions with and without an error
  double f1 = 0;                  // their harmonic mean
};
FirstErrorFigures first_error_figures(std::span<const FirstError> solutions);
// The first step of each solution that was judged wrong. A solution is invalid if it has an invalid or unknown verdict
// before that step.
std::vector<FirstError> first_errors(std::span<const JudgedStep> steps);

// Whether some position of a solution has several candidate steps. If so, use `regret`, otherwise first_errors.
bool has_candidates(std::span<const JudgedStep> steps);

// The loss from choosing steps by this critic instead of by the labels. Over groups of candidate steps (same solution
// and position): the share of groups with a right step minus the share whose most probable step is right. A step
// without a probability is chosen last; tied steps are equally likely to be chosen.
double regret(std::span<const JudgedStep> steps);

double harmonic_mean(double a, double b);  // 0 where both are 0

}  // namespace agon::critic
