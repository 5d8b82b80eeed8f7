// core/intervals.h - 95 % intervals that stay valid with few tasks and with samples that share a task. Pure functions;
// NaN if nothing was counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace agon {

struct Interval {
  double low = 0, high = 0;
};

// Wilson's score interval of `part` of `whole` independent trials; both may be fractions. 2 of 2 is [0.342, 1].
// Equal to statsmodels' proportion_confint(method="wilson").
Interval wilson_interval(double part, double whole);

// The result of one task: `part` out of `whole`, from `draws` samples. Example: right steps out of all steps; for a
// mean in [0, 1], `whole` is 1. Samples of one task carry less information than the same number of samples from
// different tasks. REQUIRES: 0 <= part <= whole, draws > 0.
struct TaskShare {
  double part = 0, whole = 1, draws = 1;
};
// sum of parts / sum of wholes, NaN if there are none.
double share_of(std::span<const TaskShare> tasks);
// Wilson's interval of that share at the effective number of trials p (1 - p) / SE^2 (Korn and Graubard 1998), SE by
// linearisation over the tasks. It lies between the number of tasks (Kish's effective number, 1965, if their `whole`
// differs) and the number of draws. If these bounds differ, Student's t replaces the normal quantile. With one draw per
// task, the result is Wilson's interval over the tasks.
Interval share_interval(std::span<const TaskShare> tasks);

// The interval of share_of(minuend) - share_of(subtrahend) for the same tasks in the same order. Newcombe's method 10
// (1998): combines the squared intervals of both shares, with their correlation over the tasks. REQUIRES: equal
// lengths.
Interval paired_difference_interval(std::span<const TaskShare> minuend, std::span<const TaskShare> subtrahend);

// The interval of a difference a - b from the intervals of a and b, which are correlated by `correlation` (Newcombe;
// MOVER).
Interval difference_interval(double a, Interval of_a, double b, Interval of_b, double correlation = 0);

// Percentile bootstrap over `tasks` items: calls statistic(resampled indices) `resamples` times, and returns the
// central `confidence` part of the values.
Interval bootstrap_interval(std::size_t tasks, const std::function<double(std::span<const std::size_t>)>& statistic,
                            std::uint64_t seed, int resamples = 1000, double confidence = 0.95);

// The same for `count` statistics of the same resamples. Each interval is the one that bootstrap_interval gives.
std::vector<Interval> bootstrap_intervals(
    std::size_t tasks, std::size_t count,
    const std::function<std::vector<double>(std::span<const std::size_t>)>& statistics, std::uint64_t seed,
    int resamples = 1000, double confidence = 0.95);

// For figures in [0, 1] that are not shares, such as areas under curves. The bootstrap interval is too narrow with
// fewer than kFewTasks tasks or if all resamples agree. The result is then widened to include Wilson's interval for
// that many tasks.
inline constexpr std::size_t kFewTasks = 10;
Interval bootstrap_or_wilson(Interval bootstrap, double value, std::size_t tasks);

}  // namespace agon
