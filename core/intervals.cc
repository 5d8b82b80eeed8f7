#include "core/intervals.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "core/rng.h"

namespace agon {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kNormal = 1.959963984540054;  // quantile 0.975

// Quantile 0.975 of Student's t: up to 30 degrees of freedom from the table, above by the expansion around the normal.
double student(std::size_t degrees) {
  constexpr double kTable[] = {12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004,
                               2.262157,  2.228139, 2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905,
                               2.109816,  2.100922, 2.093024, 2.085963, 2.079614, 2.073873, 2.068658, 2.063899,
                               2.059539,  2.055529, 2.051831, 2.048407, 2.045230, 2.042272};
  if (degrees == 0) return std::numeric_limits<double>::infinity();
  if (degrees <= std::size(kTable)) return kTable[degrees - 1];
  const double z = kNormal, n = static_cast<double>(degrees);
  return z + (std::pow(z, 3) + z) / (4 * n) + (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * n * n);
}

// Linear interpolation between the order statistics of `sorted`. REQUIRES: not empty.
double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

struct Sums {
  double part = 0, whole = 0, whole_squared = 0, draws = 0;
  std::size_t tasks = 0;
};

Sums sums_of(std::span<const TaskShare> tasks) {
  Sums sums;
  for (const TaskShare& task : tasks) {
    if (!(task.whole > 0)) continue;
    sums.part += task.part;
    sums.whole += task.whole;
    sums.whole_squared += task.whole * task.whole;
    sums.draws += task.draws;
    ++sums.tasks;
  }
  return sums;
}

double effective_trials(std::span<const TaskShare> tasks, const Sums& sums, double share) {
  const double fewest = sums.whole * sums.whole / sums.whole_squared, most = std::max(fewest, sums.draws);
  double squares = 0;  // of each task's deviation from the share
  for (const TaskShare& task : tasks) squares += std::pow(task.part - share * task.whole, 2);
  const double variance = squares / (sums.whole * sums.whole), binomial = share * (1 - share);
  if (binomial <= 0) return fewest;
  if (variance <= 0)
    return sums.tasks > 1 ? std::clamp(most * std::pow(kNormal / student(sums.tasks - 1), 2), fewest, most) : fewest;
  double trials = binomial / variance;
  if (most > fewest) trials *= std::pow(kNormal / student(sums.tasks - 1), 2);
  return std::clamp(trials, fewest, most);
}

// The correlation of the tasks' values, with Newcombe's correction for few tasks.
double correlation_of(std::span<const TaskShare> a, std::span<const TaskShare> b) {
  const double mean_a = share_of(a), mean_b = share_of(b), count = static_cast<double>(a.size());
  double both = 0, squares_a = 0, squares_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double off_a = a[i].part - mean_a * a[i].whole, off_b = b[i].part - mean_b * b[i].whole;
    both += off_a * off_b / count;
    squares_a += off_a * off_a / count;
    squares_b += off_b * off_b / count;
  }
  if (squares_a <= 0 || squares_b <= 0) return 0;
  if (both > 0) both = std::max(0.0, both - 1 / (2 * count));
  return std::clamp(both / std::sqrt(squares_a * squares_b), -1.0, 1.0);
}

}  // namespace

Interval wilson_interval(double part, double whole) {
  if (!(whole > 0)) return {kNaN, kNaN};
  const double share = part / whole, square = kNormal * kNormal;
  const double middle = (share + square / (2 * whole)) / (1 + square / whole);
  const double half =
      kNormal / (1 + square / whole) * std::sqrt(share * (1 - share) / whole + square / (4 * whole * whole));
  return {share <= 0 ? 0 : std::max(0.0, middle - half), share >= 1 ? 1 : std::min(1.0, middle + half)};
}

double share_of(std::span<const TaskShare> tasks) {
  const Sums sums = sums_of(tasks);
  return sums.part / sums.whole;  // 0 / 0: NaN
}

Interval share_interval(std::span<const TaskShare> tasks) {
  const Sums sums = sums_of(tasks);
  if (sums.tasks == 0) return {kNaN, kNaN};
  const double share = std::clamp(sums.part / sums.whole, 0.0, 1.0), trials = effective_trials(tasks, sums, share);
  return wilson_interval(share * trials, trials);
}

Interval difference_interval(double a, Interval of_a, double b, Interval of_b, double correlation) {
  const auto half = [&](double one, double other) {
    return std::sqrt(std::max(0.0, one * one + other * other - 2 * correlation * one * other));
  };
  return {a - b - half(a - of_a.low, of_b.high - b), a - b + half(of_a.high - a, b - of_b.low)};
}

Interval paired_difference_interval(std::span<const TaskShare> minuend, std::span<const TaskShare> subtrahend) {
  assert(minuend.size() == subtrahend.size());
  return difference_interval(share_of(minuend), share_interval(minuend), share_of(subtrahend),
                             share_interval(subtrahend), correlation_of(minuend, subtrahend));
}

std::vector<Interval> bootstrap_intervals(
    std::size_t tasks, std::size_t count,
    const std::function<std::vector<double>(std::span<const std::size_t>)>& statistics, std::uint64_t seed,
    int resamples, double confidence) {
  if (tasks == 0) return std::vector<Interval>(count, {kNaN, kNaN});
  Rng rng = Rng::derive(seed, "bootstrap");
  std::vector<std::size_t> indices(tasks);
  std::vector<std::vector<double>> values(count);
  for (int round = 0; round < resamples; ++round) {
    for (std::size_t& index : indices) index = static_cast<std::size_t>(rng.between(0, static_cast<int>(tasks) - 1));
    const std::vector<double> drawn = statistics(indices);
    for (std::size_t i = 0; i < count; ++i)
      if (!std::isnan(drawn[i])) values[i].push_back(drawn[i]);
  }
  std::vector<Interval> intervals;
  for (std::vector<double>& own : values) {
    std::sort(own.begin(), own.end());
    const double tail = (1 - confidence) / 2;
    intervals.push_back(own.empty() ? Interval{kNaN, kNaN} : Interval{quantile(own, tail), quantile(own, 1 - tail)});
  }
  return intervals;
}

Interval bootstrap_interval(std::size_t tasks, const std::function<double(std::span<const std::size_t>)>& statistic,
                            std::uint64_t seed, int resamples, double confidence) {
  const auto alone = [&](std::span<const std::size_t> drawn) { return std::vector<double>{statistic(drawn)}; };
  return bootstrap_intervals(tasks, 1, alone, seed, resamples, confidence).front();
}

Interval bootstrap_or_wilson(Interval bootstrap, double value, std::size_t tasks) {
  if (std::isnan(value)) return {kNaN, kNaN};
  const bool varies = bootstrap.low < bootstrap.high;
  if (varies && tasks >= kFewTasks) return bootstrap;
  const auto count = static_cast<double>(tasks);
  const Interval wilson = wilson_interval(std::clamp(value, 0.0, 1.0) * count, count);
  if (!varies) return wilson;
  return {std::min(bootstrap.low, wilson.low), std::max(bootstrap.high, wilson.high)};
}

}  // namespace agon
