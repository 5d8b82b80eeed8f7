// agents/task_figures.h - computes the figures of agents/run_summary.h and their intervals from a run's tasks. Each
// figure is a function of the tasks, so that it can be computed on resampled tasks too.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "agents/run_summary.h"
#include "core/intervals.h"

namespace agon::agents {

// The episodes of a task that have not failed; only these count.
struct TaskEpisodes {
  std::uint64_t index = 0;
  std::vector<const EpisodeOutcome*> samples;  // in order
  const EpisodeOutcome* greedy = nullptr;
};
// Sorted by index; a task whose episodes all failed is included. The result points into `outcomes`.
std::vector<TaskEpisodes> tasks_of(const std::vector<EpisodeOutcome>& outcomes);
int samples_of(const std::vector<EpisodeOutcome>& outcomes);  // samples per task: the highest sample number plus 1

// A figure over the tasks of a run, with the data that its interval is computed from.
struct TaskFigure {
  std::function<double(std::span<const std::size_t>)> statistic;  // of tasks, given by their indices
  // The share of each task; its whole is 0 if the task has no episode that the figure covers.
  std::vector<TaskShare> shares;  // empty: the figure is not a share of the tasks
  std::vector<TaskShare> less;    // if not empty: the figure is `shares` minus these, of the same tasks
  std::size_t tasks = 0;          // tasks that the figure covers
  bool in_unit = false;           // lies in [0, 1] for every resample
};
// Figures by the names of their intervals: "pass_at_8", "greedy_acc_t1", ... samples: number per task.
std::map<std::string, TaskFigure> figures_of(const std::vector<TaskEpisodes>& tasks, int samples);
std::vector<int> sizes_up_to(int samples);  // 1, 2, 4, ... and `samples` itself

// tasks: length of the list from which the figure was made.
Estimate estimate_of(std::size_t tasks, const TaskFigure& figure, std::uint64_t seed);
// minuend - subtrahend. REQUIRES: both were made from lists of the same tasks.
Estimate difference_of(std::size_t tasks, const TaskFigure& minuend, const TaskFigure& subtrahend, std::uint64_t seed);

// Counts the two-turn episodes of each type, among the samples or among the greedy answers.
TurnTypes turn_types(const std::vector<TaskEpisodes>& tasks, bool greedy);

}  // namespace agon::agents
