#include "critic/metrics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/json.h"
#include "core/rng.h"
#include "core/text.h"
#include "paths.h"

using namespace agon;
using namespace agon::critic;

namespace {

JudgedStep step(std::size_t problem, int position, bool correct, Judgement judgement,
                std::optional<double> probability = std::nullopt) {
  JudgedStep judged;
  judged.problem = problem;
  judged.position = position;
  judged.correct = correct;
  judged.judgement = judgement;
  judged.probability = probability;
  return judged;
}

constexpr Judgement kRight = Judgement::correct, kWrong = Judgement::incorrect, kInvalid = Judgement::invalid,
                    kUnknown = Judgement::unknown;

// Figures for a thousand right and a thousand wrong steps, of which these shares are recognised.
CriticFigures figures_of(double correct, double error) {
  std::vector<JudgedStep> steps;
  for (int i = 0; i < 1000; ++i) {
    steps.push_back(step(0, i, true, i < std::lround(correct * 10) ? kRight : kWrong));
    steps.push_back(step(0, i, false, i < std::lround(error * 10) ? kWrong : kRight));
  }
  return critic_figures(steps);
}

}  // namespace

TEST_CASE("metrics: equal scikit-learn's on its golden cases") {
  const Json golden = Json::parse(read_file(agon::test::golden_path("statistics/curves.json")));
  for (const Json& one : golden.at("cases")) {
    CAPTURE(one.at("name"));
    std::vector<JudgedStep> steps;
    for (std::size_t i = 0; i < one.at("scores").size(); ++i) {
      const double probability = one["scores"][i];
      steps.push_back(step(i, 0, one["labels"][i] == 1, verdict_from(probability).judgement, probability));
    }
    const CriticFigures figures = critic_figures(steps);
    const auto equal = [](double value, const Json& expected) {
      return expected.is_null() ? std::isnan(value) : value == Approx(expected.get<double>()).margin(1e-12);
    };
    CHECK(equal(figures.correct, one["recall"][0]));
    CHECK(equal(figures.error, one["recall"][1]));
    CHECK(equal(figures.average, one["balanced_accuracy"]));
    CHECK(equal(figures.auc, one["roc_auc"]));
    CHECK(std::isnan(figures.average_precision) == std::isnan(figures.error));
    CHECK(equal(figures.brier, one["brier"]));
    CHECK(equal(figures.calibration_error, one["ece"]));
    CHECK(equal(figures.adaptive_calibration_error, one["adaptive_ece"]));
  }
}

TEST_CASE("metrics: rows of SPC's tables") {
  struct Row {
    double average, harmonic, correct, error;
  };
  // Average, HarMean, Correct and Error as printed for PRM800K and DeltaBench.
  const Row kPrinted[] = {
      {50.0, 49.5, 55.2, 44.8}, {73.6, 73.6, 74.4, 72.8}, {51.9, 30.5, 18.6, 85.2}, {54.6, 38.9, 25.3, 83.9},
      {52.8, 37.2, 24.1, 81.6}, {59.0, 50.5, 36.6, 81.4}, {68.5, 68.4, 70.3, 66.6}, {71.4, 71.2, 67.3, 75.5},
      {71.0, 70.8, 67.8, 74.2}, {72.8, 70.3, 59.4, 86.1}, {75.8, 75.8, 74.8, 76.9}, {53.3, 14.3, 7.69, 98.8},
      {58.5, 41.3, 90.1, 26.8}, {49.1, 6.38, 3.30, 95.0}, {44.6, 20.3, 11.7, 77.5}, {48.2, 33.8, 21.8, 74.7},
      {44.7, 33.0, 21.8, 67.6}, {49.9, 48.7, 42.0, 57.9}, {50.9, 50.6, 54.9, 46.9}, {54.9, 53.5, 45.9, 64.0},
      {58.8, 57.3, 68.4, 49.3}, {60.5, 59.5, 68.2, 52.8}};
  for (const Row& row : kPrinted) {
    const CriticFigures figures = figures_of(row.correct, row.error);
    CAPTURE(row.correct, row.error);
    CHECK(figures.correct * 100 == Approx(row.correct).margin(0.1));
    CHECK(figures.error * 100 == Approx(row.error).margin(0.1));
    CHECK(figures.average * 100 == Approx(row.average).margin(0.1));
    CHECK(figures.harmonic_mean * 100 == Approx(row.harmonic).margin(0.15));
  }
  // The four subsets of ProcessBench and their mean.
  const double kMeans[][5] = {
      {58.0, 58.4, 68.0, 64.1, 62.1}, {77.0, 72.9, 66.9, 62.1, 69.7}, {59.5, 57.7, 53.6, 53.9, 56.2},
      {67.2, 62.8, 61.7, 61.9, 63.4}, {64.2, 64.0, 62.1, 60.8, 62.8}, {76.2, 68.1, 68.9, 63.9, 69.3},
      {75.5, 70.5, 70.0, 64.5, 70.1}, {79.0, 81.3, 73.4, 67.3, 75.2}, {78.0, 74.1, 67.8, 63.2, 70.8},
      {82.0, 80.3, 74.8, 70.3, 76.8}, {84.2, 80.8, 76.5, 69.2, 77.7}};
  for (const auto& row : kMeans) CHECK(mean(std::span(row).first(4)) == Approx(row[4]).margin(0.1));
  CHECK(harmonic_mean(0.0769, 0.988) == Approx(0.1427).margin(5e-5));
  CHECK(harmonic_mean(0, 0) == 0);
}

TEST_CASE("metrics: an invalid verdict is neither right nor wrong, and is counted") {
  const std::vector<JudgedStep> steps = {step(0, 0, true, kRight),    step(0, 1, true, kInvalid),
                                         step(0, 2, false, kWrong),   step(0, 3, false, kRight),
                                         step(0, 4, false, kInvalid), step(0, 5, true, kUnknown)};
  const CriticFigures figures = critic_figures(steps);
  CHECK(figures.steps == 6);
  CHECK(figures.right_steps == 3);
  CHECK(figures.invalid == 2);
  CHECK(figures.unknown == 1);
  CHECK(figures.correct == 1);
  CHECK(figures.error == 0.5);
  CHECK(figures.accuracy == Approx(2.0 / 3));
  CHECK(figures.strict_accuracy == 0.4);  // of the five steps to judge
  CHECK(figures.strict_harmonic_mean == Approx(harmonic_mean(0.5, 1.0 / 3)));
  CHECK(std::isnan(figures.auc));
  CHECK(std::isnan(critic_figures({}).average));
}

TEST_CASE("metrics: first errors as ProcessBench counts them") {
  const std::vector<FirstError> solutions = {{2, 2, false},
                                             {2, 1, false},
                                             {0, std::nullopt, false},
                                             {3, 3, true},
                                             {std::nullopt, std::nullopt, false},
                                             {std::nullopt, 4, false}};
  const FirstErrorFigures figures = first_error_figures(solutions);
  CHECK(figures.with_error == 4);
  CHECK(figures.without_error == 2);
  CHECK(figures.invalid == 1);
  CHECK(figures.error == 0.25);
  CHECK(figures.correct == 0.5);
  CHECK(figures.f1 == Approx(2 * 0.25 * 0.5 / 0.75));
}

TEST_CASE("metrics: the first step found wrong is the prediction, whatever comes after") {
  const std::vector<JudgedStep> steps = {
      step(7, 1, false, kWrong),  step(7, 0, true, kRight),  step(7, 2, false, kRight),  // found, steps out of order
      step(8, 0, true, kInvalid), step(8, 1, false, kWrong),    // an invalid verdict before the error
      step(9, 0, false, kWrong),  step(9, 1, true, kInvalid)};  // after the error: ignored
  const std::vector<FirstError> solutions = first_errors(steps);
  REQUIRE(solutions.size() == 3);
  CHECK((solutions[0].truth == 1 && solutions[0].predicted == 1 && !solutions[0].invalid));
  CHECK((solutions[1].truth == 1 && solutions[1].invalid));
  CHECK((solutions[2].truth == 0 && solutions[2].predicted == 0 && !solutions[2].invalid));
}

TEST_CASE("metrics: regret counts where a right candidate stood and was not chosen") {
  const std::vector<JudgedStep> steps = {
      step(0, 0, true, kRight, 0.4),  step(0, 0, false, kRight, 0.6),  // the wrong step is chosen
      step(0, 1, true, kRight, 0.7),  step(0, 1, false, kRight, 0.6),  // the right step is chosen
      step(1, 0, false, kRight, 0.9), step(1, 0, false, kWrong, 0.1),  // both wrong: no regret
      step(1, 1, false, kInvalid),    step(1, 1, true, kWrong, 0.0)};  // no probability: ranked last
  CHECK(regret(steps) == 0.25);
  const std::vector<JudgedStep> equals = {step(0, 0, true, kRight, 0.7), step(0, 0, false, kRight, 0.7),
                                          step(0, 0, false, kRight, 0.7), step(0, 0, false, kRight, 0.1)};
  CHECK(regret(equals) == Approx(2.0 / 3));
  CHECK(std::isnan(regret({})));
  std::vector<JudgedStep> more = equals;
  more.push_back(step(0, 1, true, kRight, 0.7));  // a single step: nothing to choose
  CHECK(regret(more) == Approx(2.0 / 3));
  CHECK(std::isnan(regret(std::span(more).last(1))));
}

TEST_CASE("metrics: intervals are drawn by problem", "[long]") {
  Rng rng = Rng::derive(1, "metrics", "interval");
  std::vector<JudgedStep> steps;
  for (std::size_t problem = 0; problem < 40; ++problem) {
    const bool good = rng.chance(0.7);  // all steps of a problem have the same result
    for (int i = 0; i < 25; ++i) steps.push_back(step(problem, i, i % 2 == 0, (i % 2 == 0) == good ? kRight : kWrong));
  }
  const double average = critic_figures(steps).average;
  double CriticFigures::*const figures[] = {&CriticFigures::average, &CriticFigures::error};
  const std::vector<Interval> intervals = intervals_by_problem(steps, figures, 3);
  const Interval interval = intervals.at(0), alone = intervals_by_problem(steps, {figures, 1}, 3).at(0);
  CHECK((interval.low == alone.low && interval.high == alone.high));
  CHECK(intervals.at(1).low < critic_figures(steps).error);
  CHECK(interval.low < average);
  CHECK(interval.high > average);
  CHECK(interval.high - interval.low > 0.2);  // 1,000 independent steps would give 0.06
}
