// critic/metrics.h - measures a critic from its verdicts on labelled steps. Pure functions.
//
// An invalid verdict counts in `invalid`. It also counts as wrong in the strict figures and in the first-error figures,
// and in nothing else. A step that the critic knows nothing about (Judgement::unknown) counts only in `unknown`. NaN
// where nothing was counted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/statistics.h"
#include "critic/critic.h"

namespace agon::critic {

struct JudgedStep {
  std::size_t problem = 0;   // what is resampled for intervals
  std::size_t solution = 0;  // of the problem's
  int position = 0;          // of the step in its solution, from 0
  int level = 0;
  std::string kind;    // "perception", "reasoning" or the data's own
  std::string source;  // who wrote it: "expert", a kind of error, "policy"
  bool correct = false;
  Judgement judgement = Judgement::invalid;
  std::optional<double> probability;  // P(correct)
  std::string fault;                  // of an invalid verdict
  bool alone = false;                 // nothing is known of the other steps of its solution: no first error is
};

struct CriticFigures {
  std::size_t steps = 0, right_steps = 0, invalid = 0, unknown = 0;
  double correct = 0;        // share of the right steps with a verdict that were found right
  double error = 0;          // share of the wrong ones that were found wrong
  double average = 0;        // (correct + error) / 2
  double harmonic_mean = 0;  // 2 correct error / (correct + error); 0 where both are 0
  double accuracy = 0;       // share of the steps with a verdict that got the right one
  double strict_harmonic_mean = 0, strict_accuracy = 0;  // the same where an invalid verdict is a wrong one
  // Of P(correct), over the steps that have one; "positive" is a right step, but for average_precision, which finds the
  // wrong ones by 1 - P. NaN: of one sort alone (average_precision: without a wrong one).
  double auc = 0, average_precision = 0;
  double brier = 0;                                              // mean (P - truth)^2
  double calibration_error = 0, adaptive_calibration_error = 0;  // ten bins of equal width; of equal counts
  std::vector<ReliabilityBin> reliability;                       // of equal width
};
CriticFigures critic_figures(std::span<const JudgedStep> steps);

// The same by what `key` says of a step ("kind", "level 3", ...), in the order of the keys.
std::map<std::string, CriticFigures> critic_figures_by(std::span<const JudgedStep> steps,
                                                       const std::function<std::string(const JudgedStep&)>& key);

// Of each figure, over the problems, whole solutions at a time: of shares of the steps Wilson's at the effective number
// of steps, of the others by bootstrap (core/intervals.h).
std::vector<Interval> intervals_by_problem(std::span<const JudgedStep> steps,
                                           std::span<double CriticFigures::*const> figures, std::uint64_t seed);

// ProcessBench: a solution has its first error at step `truth`, or none; the critic finds it exactly, or not.
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
// The first step of each solution that was found wrong. A solution with a verdict before that which is invalid or says
// that nobody knows is invalid.
std::vector<FirstError> first_errors(std::span<const JudgedStep> steps);

// Whether several steps stand at one place of a solution, to choose from: then `regret` says something, else
// first_errors.
bool has_candidates(std::span<const JudgedStep> steps);

// What choosing by this critic loses against choosing by the truth: over groups of several candidate steps (same
// solution and position), the share that holds a right step minus the share whose most probable step is right. A step
// without probability is chosen last; of equals, any with the same chance.
double regret(std::span<const JudgedStep> steps);

double harmonic_mean(double a, double b);  // 0 where both are 0

}  // namespace agon::critic
