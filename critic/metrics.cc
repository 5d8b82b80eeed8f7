#include "critic/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "core/progress.h"

namespace agon::critic {
namespace {

constexpr int kBins = 10, kResamples = 1000;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? kNaN : static_cast<double>(part) / static_cast<double>(whole);
}

// Recall of both classes, over all steps that the critic had to judge or over the steps with a valid verdict.
struct Recalls {
  std::size_t right = 0, found_right = 0, wrong = 0, found_wrong = 0;
  double correct() const { return share(found_right, right); }
  double error() const { return share(found_wrong, wrong); }
  double accuracy() const { return share(found_right + found_wrong, right + wrong); }
};

Recalls recalls_of(std::span<const JudgedStep> steps, bool with_invalid) {
  Recalls recalls;
  for (const JudgedStep& step : steps) {
    if (step.judgement == Judgement::unknown || (step.judgement == Judgement::invalid && !with_invalid)) continue;
    (step.correct ? recalls.right : recalls.wrong) += 1;
    recalls.found_right += step.correct && step.judgement == Judgement::correct;
    recalls.found_wrong += !step.correct && step.judgement == Judgement::incorrect;
  }
  return recalls;
}

void add_recalls(std::span<const JudgedStep> steps, CriticFigures& figures) {
  const Recalls valid = recalls_of(steps, false), all = recalls_of(steps, true);
  figures.correct = valid.correct();
  figures.error = valid.error();
  figures.average = (figures.correct + figures.error) / 2;
  figures.harmonic_mean = harmonic_mean(figures.correct, figures.error);
  figures.accuracy = valid.accuracy();
  figures.strict_harmonic_mean = harmonic_mean(all.correct(), all.error());
  figures.strict_accuracy = all.accuracy();
}

void add_probabilities(std::span<const JudgedStep> steps, CriticFigures& figures) {
  std::vector<double> right, wrong;
  std::vector<int> is_right, is_wrong;
  for (const JudgedStep& step : steps) {
    if (!step.probability) continue;
    right.push_back(*step.probability);
    wrong.push_back(1 - *step.probability);
    is_right.push_back(step.correct);
    is_wrong.push_back(!step.correct);
  }
  figures.auc = roc_auc(right, is_right);
  const bool some_wrong = std::ranges::find(is_wrong, 1) != is_wrong.end();
  figures.average_precision = some_wrong ? average_precision(wrong, is_wrong) : kNaN;
  figures.brier = brier_score(right, is_right);
  figures.reliability = reliability(right, is_right, kBins);
  figures.calibration_error = expected_calibration_error(figures.reliability);
  figures.adaptive_calibration_error = expected_calibration_error(adaptive_reliability(right, is_right, kBins));
}

std::map<std::size_t, std::vector<JudgedStep>> by_problem(std::span<const JudgedStep> steps) {
  std::map<std::size_t, std::vector<JudgedStep>> problems;
  for (const JudgedStep& step : steps) problems[step.problem].push_back(step);
  return problems;
}

// The number of steps in a recall, per problem, and how many of them were found.
std::vector<TaskShare> shares_of(const std::vector<std::vector<JudgedStep>>& problems, bool right, bool wrong) {
  std::vector<TaskShare> shares;
  for (const std::vector<JudgedStep>& steps : problems) {
    const Recalls found = recalls_of(steps, false);
    const auto whole = static_cast<double>(right * found.right + wrong * found.wrong);
    shares.push_back({static_cast<double>(right * found.found_right + wrong * found.found_wrong), whole, whole});
  }
  return shares;
}

Interval interval_of(double CriticFigures::*figure, const std::vector<std::vector<JudgedStep>>& problems,
                     Interval bootstrap, double value) {
  if (figure == &CriticFigures::correct) return share_interval(shares_of(problems, true, false));
  if (figure == &CriticFigures::error) return share_interval(shares_of(problems, false, true));
  if (figure == &CriticFigures::accuracy) return share_interval(shares_of(problems, true, true));
  return bootstrap_or_wilson(bootstrap, value, problems.size());
}

}  // namespace

double harmonic_mean(double a, double b) { return a + b == 0 ? 0 : 2 * a * b / (a + b); }

CriticFigures critic_figures(std::span<const JudgedStep> steps) {
  CriticFigures figures;
  figures.steps = steps.size();
  for (const JudgedStep& step : steps) {
    figures.right_steps += step.correct;
    figures.invalid += step.judgement == Judgement::invalid;
    figures.unknown += step.judgement == Judgement::unknown;
  }
  add_recalls(steps, figures);
  add_probabilities(steps, figures);
  return figures;
}

std::map<std::string, CriticFigures> critic_figures_by(std::span<const JudgedStep> steps,
                                                       const std::function<std::string(const JudgedStep&)>& key) {
  std::map<std::string, std::vector<JudgedStep>> parts;
  for (const JudgedStep& step : steps) parts[key(step)].push_back(step);
  std::map<std::string, CriticFigures> figures;
  for (const auto& [name, part] : parts) figures.emplace(name, critic_figures(part));
  return figures;
}

std::vector<Interval> intervals_by_problem(std::span<const JudgedStep> steps,
                                           std::span<double CriticFigures::*const> figures, std::uint64_t seed) {
  std::vector<std::vector<JudgedStep>> problems;
  for (auto& [problem, solution] : by_problem(steps)) problems.push_back(std::move(solution));
  for (std::vector<JudgedStep>& solution : problems)
    for (JudgedStep& step : solution) step.kind = step.source = step.fault = {};  // unused, and slow to copy
  Progress progress("critic: intervals", kResamples, "resamples", 0, kMostlyShort);
  const auto statistics = [&](std::span<const std::size_t> chosen) {
    std::vector<JudgedStep> sample;
    for (const std::size_t index : chosen) sample.insert(sample.end(), problems[index].begin(), problems[index].end());
    const CriticFigures drawn = critic_figures(sample);
    std::vector<double> values;
    for (const auto figure : figures) values.push_back(drawn.*figure);
    progress.add(1);
    return values;
  };
  std::vector<Interval> intervals = bootstrap_intervals(problems.size(), figures.size(), statistics, seed, kResamples);
  const CriticFigures values = critic_figures(steps);
  for (std::size_t i = 0; i < figures.size(); ++i)
    intervals[i] = interval_of(figures[i], problems, intervals[i], values.*figures[i]);
  return intervals;
}

FirstErrorFigures first_error_figures(std::span<const FirstError> solutions) {
  FirstErrorFigures figures;
  std::size_t found = 0, cleared = 0;
  for (const FirstError& solution : solutions) {
    const bool exact = !solution.invalid && solution.predicted == solution.truth;
    (solution.truth ? figures.with_error : figures.without_error) += 1;
    (solution.truth ? found : cleared) += exact;
    figures.invalid += solution.invalid;
  }
  figures.error = share(found, figures.with_error);
  figures.correct = share(cleared, figures.without_error);
  figures.f1 = harmonic_mean(figures.error, figures.correct);
  return figures;
}

std::vector<FirstError> first_errors(std::span<const JudgedStep> steps) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<JudgedStep>> written;
  for (const JudgedStep& step : steps) written[{step.problem, step.solution}].push_back(step);
  std::vector<FirstError> solutions;
  for (auto& [name, solution] : written) {
    std::stable_sort(solution.begin(), solution.end(),
                     [](const JudgedStep& a, const JudgedStep& b) { return a.position < b.position; });
    FirstError found;
    for (const JudgedStep& step : solution) {
      if (!step.correct && !found.truth) found.truth = step.position;
      if (found.predicted || found.invalid) continue;
      found.invalid = step.judgement == Judgement::invalid || step.judgement == Judgement::unknown;
      if (step.judgement == Judgement::incorrect) found.predicted = step.position;
    }
    solutions.push_back(found);
  }
  return solutions;
}

bool has_candidates(std::span<const JudgedStep> steps) {
  std::set<std::tuple<std::size_t, std::size_t, int>> places;
  return !std::all_of(steps.begin(), steps.end(), [&](const JudgedStep& step) {
    return places.emplace(step.problem, step.solution, step.position).second;
  });
}

double regret(std::span<const JudgedStep> steps) {
  struct Candidates {
    std::size_t steps = 0;
    double best = -2;
    std::size_t most_probable = 0, right_of_them = 0;
    bool any_is_right = false;
  };
  std::map<std::tuple<std::size_t, std::size_t, int>, Candidates> groups;
  for (const JudgedStep& step : steps) {
    Candidates& group = groups[{step.problem, step.solution, step.position}];
    const double value = step.probability.value_or(-1);
    ++group.steps;
    group.any_is_right |= step.correct;
    if (value < group.best) continue;
    if (value > group.best) group.most_probable = group.right_of_them = 0;
    group.best = value;
    ++group.most_probable;
    group.right_of_them += step.correct;
  }
  std::erase_if(groups, [](const auto& entry) { return entry.second.steps < 2; });
  double lost = 0;
  for (const auto& [place, group] : groups)
    if (group.any_is_right) lost += 1 - share(group.right_of_them, group.most_probable);
  return groups.empty() ? kNaN : lost / static_cast<double>(groups.size());
}

}  // namespace agon::critic
