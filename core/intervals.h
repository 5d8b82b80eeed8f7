// core/intervals.h - 95 % intervals that stay valid with few tasks and with samples that share a task. Pure functions;
// NaN where nothing was counted.
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

// What was found of one task: `part` of `whole` (right steps of all; or its mean in [0, 1], and 1), in so many `draws`
// (samples). Samples of one task say less together than as many of different tasks. REQUIRES: 0 <= part <= whole,
// draws > 0.
struct TaskShare {
  double part = 0, whole = 1, draws = 1;
};
// sum of parts / sum of wholes, NaN without any.
double share_of(std::span<const TaskShare> tasks);
// Wilson's interval of that share at the effective number of trials p (1 - p) / SE^2 (Korn and Graubard 1998), SE by
// linearisation over the tasks and with Student's t where a task is more than one draw. The effective number is at
// least that of the tasks (Kish 1965 where their wholes differ) and at most that of the draws. One draw a task:
// Wilson's of the tasks.
Interval share_interval(std::span<const TaskShare> tasks);

// `minuend` - `subtrahend` of the same tasks, task by task: Newcombe's method 10 (1998), the intervals of both shares
// joined by their squares with the correlation over the tasks. REQUIRES: equally long.
Interval paired_difference_interval(std::span<const TaskShare> minuend, std::span<const TaskShare> subtrahend);

// The interval of a difference a - b from the intervals of a and b, which are correlated by `correlation` (Newcombe;
// MOVER).
Interval difference_interval(double a, Interval of_a, double b, Interval of_b, double correlation = 0);

// Percentile bootstrap over `tasks` items: statistic(resampled indices), `resamples` times; the central `confidence`
// part.
Interval bootstrap_interval(std::size_t tasks, const std::function<double(std::span<const std::size_t>)>& statistic,
                            std::uint64_t seed, int resamples = 1000, double confidence = 0.95);

// The same of several statistics of one resample, each as it would be alone.
std::vector<Interval> bootstrap_intervals(
    std::size_t tasks, std::size_t count,
    const std::function<std::vector<double>(std::span<const std::size_t>)>& statistics, std::uint64_t seed,
    int resamples = 1000, double confidence = 0.95);

// For figures in [0, 1] that are not shares, such as areas under curves: the bootstrap's interval. Of fewer than
// kFewTasks, and where all resamples agree, it says little: the interval then reaches as far as Wilson's at so many.
inline constexpr std::size_t kFewTasks = 10;
Interval bootstrap_or_wilson(Interval bootstrap, double value, std::size_t tasks);

}  // namespace agon
