// agents/task_figures.h - the figures of agents/run_summary.h as functions of a run's tasks, and their estimates.
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

// The episodes of a task that count: all that have not failed.
struct TaskEpisodes {
  std::uint64_t index = 0;
  std::vector<const EpisodeOutcome*> samples;  // in order
  const EpisodeOutcome* greedy = nullptr;
};
// By index. A task whose episodes all failed is included. They point into `outcomes`.
std::vector<TaskEpisodes> tasks_of(const std::vector<EpisodeOutcome>& outcomes);
int samples_of(const std::vector<EpisodeOutcome>& outcomes);  // most samples of a task

// A figure over the tasks of a run, and what its interval is made from.
struct TaskFigure {
  std::function<double(std::span<const std::size_t>)> statistic;  // of tasks, by their places in the list
  // The share of each task; its whole is 0 if the task has no such episode.
  std::vector<TaskShare> shares;  // empty: the figure is not a share of the tasks
  std::vector<TaskShare> less;    // the figure is `shares` minus these, of the same tasks
  std::size_t tasks = 0;          // tasks that the figure covers
  bool in_unit = false;           // lies in [0, 1] whatever is drawn
};
// Figures by the names of their intervals: "pass_at_8", "greedy_acc_t1", ... samples: of a task.
std::map<std::string, TaskFigure> figures_of(const std::vector<TaskEpisodes>& tasks, int samples);
std::vector<int> sizes_up_to(int samples);  // 1, 2, 4, ... and the number itself

// tasks: length of the list that the figure was made from.
Estimate estimate_of(std::size_t tasks, const TaskFigure& figure, std::uint64_t seed);
// minuend - subtrahend. REQUIRES: both were made from lists of the same tasks.
Estimate difference_of(std::size_t tasks, const TaskFigure& minuend, const TaskFigure& subtrahend, std::uint64_t seed);

// The two-turn episodes of each type, of the samples or of the greedy answers.
TurnTypes turn_types(const std::vector<TaskEpisodes>& tasks, bool greedy);

}  // namespace agon::agents
