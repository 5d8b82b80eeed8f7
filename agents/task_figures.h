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

// The episodes of a task that count: those that have not failed.
struct TaskEpisodes {
  std::uint64_t index = 0;
  std::vector<const EpisodeOutcome*> samples;  // in order
  const EpisodeOutcome* greedy = nullptr;
};
// By index. A task is among them even where all its episodes failed. They point into `outcomes`.
std::vector<TaskEpisodes> tasks_of(const std::vector<EpisodeOutcome>& outcomes);
int samples_of(const std::vector<EpisodeOutcome>& outcomes);  // of a task, at most

// A figure over the tasks of a run, and what its interval is made from.
struct TaskFigure {
  std::function<double(std::span<const std::size_t>)> statistic;  // of tasks, by their places in the list
  // A part of each task; its whole is 0 where the task has no such episode.
  std::vector<TaskShare> shares;  // empty: the figure is not a share of the tasks
  std::vector<TaskShare> less;    // the figure is `shares` minus these, of the same tasks
  std::size_t tasks = 0;          // that it is of
  bool in_unit = false;           // lies in [0, 1] whatever is drawn
};
// By the names that intervals go by: "pass_at_8", "greedy_acc_t1", ... samples: of a task.
std::map<std::string, TaskFigure> figures_of(const std::vector<TaskEpisodes>& tasks, int samples);
std::vector<int> sizes_up_to(int samples);  // 1, 2, 4, ... and the number itself

// tasks: how many the list has that the figure is of.
Estimate estimate_of(std::size_t tasks, const TaskFigure& figure, std::uint64_t seed);
// minuend - subtrahend. REQUIRES: both are of lists of the same tasks.
Estimate difference_of(std::size_t tasks, const TaskFigure& minuend, const TaskFigure& subtrahend, std::uint64_t seed);

// The two-turn episodes of each type, of the samples or of the greedy answers.
TurnTypes turn_types(const std::vector<TaskEpisodes>& tasks, bool greedy);

}  // namespace agon::agents
