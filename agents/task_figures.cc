#include "agents/task_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "core/statistics.h"
#include "env/grading/vote.h"

namespace agon::agents {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Samples = std::span<const EpisodeOutcome* const>;
using Pick = const EpisodeOutcome* (*)(Samples);
using PerTask = std::function<double(const TaskEpisodes&)>;
using Statistic = std::function<double(std::span<const std::size_t>)>;  // of tasks, given by their indices
using Shares = std::vector<TaskShare>;

double greedy_success(const TaskEpisodes& task) { return task.greedy ? task.greedy->success : kNaN; }

double mean_success(const TaskEpisodes& task) {
  double right = 0;
  for (const EpisodeOutcome* sample : task.samples) right += sample->success;
  return right / static_cast<double>(task.samples.size());  // 0 / 0: NaN
}

double mean_reward(const TaskEpisodes& task) {
  double sum = 0;
  for (const EpisodeOutcome* sample : task.samples) sum += sample->reward;
  return sum / static_cast<double>(task.samples.size());
}

double pass_of(const TaskEpisodes& task, int k) {
  const int samples = static_cast<int>(task.samples.size());
  if (samples < k) return kNaN;
  const auto right = std::count_if(task.samples.begin(), task.samples.end(), [](auto* one) { return one->success; });
  return pass_at_k(samples, static_cast<int>(right), k);
}

const EpisodeOutcome* best_scored(Samples samples) {
  const EpisodeOutcome* best = samples.front();
  for (const EpisodeOutcome* sample : samples)
    if (sample->score && (!best->score || *sample->score > *best->score)) best = sample;
  return best;
}

// The sample with the winning answer; if no sample has an answer, the first one.
const EpisodeOutcome* majority(Samples samples) {
  std::vector<env::Vote> votes;
  bool boxes = false;
  for (const EpisodeOutcome* sample : samples) {
    votes.push_back({sample->answer});
    boxes = boxes || sample->answer_is_box;
  }
  return samples[env::winning_vote(votes, samples.front()->grading, boxes).value_or(0)];
}

// Mean success of the sample that `pick` takes from each block of n samples; an incomplete last block is skipped.
double success_by_blocks(const TaskEpisodes& task, int n, Pick pick) {
  const auto size = static_cast<std::size_t>(n);
  double right = 0, blocks = 0;
  for (std::size_t begin = 0; begin + size <= task.samples.size(); begin += size, ++blocks)
    right += pick(Samples(task.samples).subspan(begin, size))->success;
  return right / blocks;
}

// A sample with a score.
struct Scored {
  std::size_t task = 0;
  double score = 0;
  int label = 0;
};

// Highest score first, so that resamples are sorted too, which is fastest for the curves.
std::vector<Scored> scored_samples(const std::vector<TaskEpisodes>& tasks) {
  std::vector<Scored> all;
  for (std::size_t task = 0; task < tasks.size(); ++task)
    for (const EpisodeOutcome* sample : tasks[task].samples)
      if (sample->score) all.push_back({task, *sample->score, sample->success});
  std::stable_sort(all.begin(), all.end(), [](const Scored& a, const Scored& b) { return a.score > b.score; });
  return all;
}

using Curve = double (*)(std::span<const double>, std::span<const int>);
double score_figure(const std::vector<Scored>& samples, std::span<const std::size_t> tasks, Curve curve) {
  std::vector<int> times(tasks.size());  // how often each task was drawn
  for (const std::size_t task : tasks) ++times[task];
  std::vector<double> scores;
  std::vector<int> labels;
  for (const Scored& sample : samples) {
    scores.insert(scores.end(), static_cast<std::size_t>(times[sample.task]), sample.score);
    labels.insert(labels.end(), static_cast<std::size_t>(times[sample.task]), sample.label);
  }
  return curve(scores, labels);
}

double mean_of_defined(const std::vector<double>& values, std::span<const std::size_t> indices) {
  double sum = 0, count = 0;
  for (const std::size_t index : indices) {
    if (std::isnan(values[index])) continue;
    sum += values[index];
    ++count;
  }
  return sum / count;
}

// Named figures over the tasks of a run.
class Figures {
 public:
  explicit Figures(const std::vector<TaskEpisodes>& tasks) : tasks_(tasks) {}

  // A figure of the scores of all samples pooled.
  void add_curve(const std::string& name, Statistic statistic, std::size_t tasks) {
    figures_[name] = {std::move(statistic), {}, {}, tasks, true};
  }
  // draws: number of episodes in a task's figure.
  void add_task_mean(const std::string& name, const PerTask& figure, const PerTask& draws) {
    const std::vector<double> values = by_task(figure);
    TaskFigure added{[values](auto drawn) { return mean_of_defined(values, drawn); }, {}, {}, 0, false};
    added.tasks = static_cast<std::size_t>(std::ranges::count_if(values, [](double one) { return !std::isnan(one); }));
    const bool is_share =
        std::ranges::all_of(values, [](double one) { return std::isnan(one) || (one >= 0 && one <= 1); });
    if (is_share) added.shares = shares_of(values, std::vector<double>(values.size(), 1), by_task(draws));
    figures_[name] = std::move(added);
  }
  // The mean of one figure minus the mean of another, over the same tasks.
  void add_gap(const std::string& name, const PerTask& more, const PerTask& less, const PerTask& draws) {
    const std::vector<double> from = by_task(more), taken = by_task(less), episodes = by_task(draws);
    const std::vector<double> ones(from.size(), 1);
    TaskFigure added{[from, taken](auto drawn) { return mean_of_defined(from, drawn) - mean_of_defined(taken, drawn); },
                     shares_of(from, ones, episodes), shares_of(taken, ones, episodes), 0, false};
    added.tasks = defined(added.shares);
    figures_[name] = std::move(added);
  }
  // Sum of parts divided by sum of wholes.
  void add_ratio(const std::string& name, const PerTask& part, const PerTask& whole, const PerTask& draws) {
    const std::vector<double> parts = by_task(part), wholes = by_task(whole);
    TaskFigure added{
        [parts, wholes](auto drawn) { return mean_of_defined(parts, drawn) / mean_of_defined(wholes, drawn); },
        shares_of(parts, wholes, by_task(draws)),
        {},
        0,
        false};
    added.tasks = defined(added.shares);
    figures_[name] = std::move(added);
  }
  const std::map<std::string, TaskFigure>& figures() const { return figures_; }

 private:
  std::vector<double> by_task(const PerTask& figure) const {
    std::vector<double> values;
    for (const TaskEpisodes& task : tasks_) values.push_back(figure(task));
    return values;
  }
  static Shares shares_of(const std::vector<double>& parts, const std::vector<double>& wholes,
                          const std::vector<double>& draws) {
    Shares shares;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (std::isnan(parts[i]) || std::isnan(wholes[i]))
        shares.push_back({0, 0, 0});
      else
        shares.push_back({parts[i], wholes[i], draws[i]});
    return shares;
  }
  static std::size_t defined(const Shares& shares) {
    return static_cast<std::size_t>(std::ranges::count_if(shares, [](const TaskShare& one) { return one.whole > 0; }));
  }

  const std::vector<TaskEpisodes>& tasks_;
  std::map<std::string, TaskFigure> figures_;
};

double sample_count(const TaskEpisodes& task) { return static_cast<double>(task.samples.size()); }
double one_draw(const TaskEpisodes&) { return 1; }

void add_sample_figures(Figures& figures, int samples) {
  const auto add_blocks = [&](const std::string& name, int n, Pick pick) {
    figures.add_task_mean(
        name + std::to_string(n), [n, pick](const TaskEpisodes& task) { return success_by_blocks(task, n, pick); },
        sample_count);
  };
  for (const int size : sizes_up_to(samples)) {
    figures.add_task_mean(
        fmt::format("pass_at_{}", size), [size](const TaskEpisodes& task) { return pass_of(task, size); },
        sample_count);
    add_blocks("best_of_", size, best_scored);
    add_blocks("majority_", size, majority);
  }
}

void add_score_figures(Figures& figures, const std::vector<TaskEpisodes>& tasks) {
  const std::vector<Scored> samples = scored_samples(tasks);
  std::set<std::size_t> scored;
  for (const Scored& sample : samples) scored.insert(sample.task);
  const auto add = [&](const char* name, Curve curve) {
    figures.add_curve(
        name, [samples, curve](auto drawn) { return score_figure(samples, drawn, curve); }, scored.size());
  };
  add("score_auc", roc_auc);
  add("score_ap", average_precision);
}

double steps_of(const TaskEpisodes& task, int EpisodeOutcome::*count) {
  double sum = 0;
  for (const EpisodeOutcome* sample : task.samples) sum += sample->*count;
  return sum;
}

bool has_steps(const std::vector<TaskEpisodes>& tasks) {
  return std::any_of(tasks.begin(), tasks.end(), [](const TaskEpisodes& task) {
    return (task.greedy && task.greedy->steps > 0) || steps_of(task, &EpisodeOutcome::steps) > 0;
  });
}

// The two-turn episodes of a task: the greedy one, or the samples.
std::vector<const EpisodeOutcome*> answered_twice(const TaskEpisodes& task, bool greedy) {
  std::vector<const EpisodeOutcome*> episodes = task.samples;
  if (greedy) episodes = {task.greedy};
  std::erase_if(episodes, [](const EpisodeOutcome* one) { return !one || one->turn_correct.size() != 2; });
  return episodes;
}

bool has_two_turns(const std::vector<TaskEpisodes>& tasks) {
  return std::any_of(tasks.begin(), tasks.end(), [](const TaskEpisodes& task) {
    return !answered_twice(task, true).empty() || !answered_twice(task, false).empty();
  });
}

using TurnValue = double (*)(bool first, bool second);

PerTask turn_mean(bool greedy, TurnValue value) {
  return [greedy, value](const TaskEpisodes& task) {
    const auto episodes = answered_twice(task, greedy);
    double sum = 0;
    for (const EpisodeOutcome* one : episodes) sum += value(one->turn_correct[0], one->turn_correct[1]);
    return sum / static_cast<double>(episodes.size());
  };
}

constexpr TurnValue kFirstRight = [](bool first, bool) { return first ? 1.0 : 0; };
constexpr TurnValue kFirstWrong = [](bool first, bool) { return first ? 0 : 1.0; };
constexpr TurnValue kSecondRight = [](bool, bool second) { return second ? 1.0 : 0; };
constexpr TurnValue kCorrected = [](bool first, bool second) { return !first && second ? 1.0 : 0; };
constexpr TurnValue kSpoilt = [](bool first, bool second) { return first && !second ? 1.0 : 0; };

// Number of episodes of a task whose value is 1.
PerTask turn_count(bool greedy, TurnValue value) {
  return [greedy, value](const TaskEpisodes& task) {
    double count = 0;
    for (const EpisodeOutcome* one : answered_twice(task, greedy))
      count += value(one->turn_correct[0], one->turn_correct[1]);
    return count;
  };
}

void add_two_turn_figures(Figures& figures, const std::string& prefix, bool greedy) {
  const PerTask draws = turn_count(greedy, [](bool, bool) { return 1.0; });
  const auto mean_of = [greedy](TurnValue value) { return turn_mean(greedy, value); };
  figures.add_task_mean(prefix + "acc_t1", mean_of(kFirstRight), draws);
  figures.add_task_mean(prefix + "acc_t2", mean_of(kSecondRight), draws);
  figures.add_gap(prefix + "delta", mean_of(kSecondRight), mean_of(kFirstRight), draws);
  figures.add_task_mean(prefix + "m01", mean_of(kCorrected), draws);
  figures.add_task_mean(prefix + "m10", mean_of(kSpoilt), draws);
  figures.add_ratio(prefix + "m01_conditional", mean_of(kCorrected), mean_of(kFirstWrong),
                    turn_count(greedy, kFirstWrong));
  figures.add_ratio(prefix + "m10_conditional", mean_of(kSpoilt), mean_of(kFirstRight),
                    turn_count(greedy, kFirstRight));
}

double value_of(std::size_t tasks, const Statistic& statistic) {
  std::vector<std::size_t> all(tasks);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return statistic(all);
}

// NaN if all resamples agree, since the bootstrap then carries no information.
Interval bootstrap_alone(std::size_t tasks, const Statistic& statistic, std::uint64_t seed) {
  const Interval interval = bootstrap_interval(tasks, statistic, seed);
  return interval.low < interval.high ? interval : Interval{kNaN, kNaN};
}

Interval interval_of(std::size_t tasks, const TaskFigure& figure, double value, std::uint64_t seed) {
  if (!figure.less.empty()) return paired_difference_interval(figure.shares, figure.less);
  if (!figure.shares.empty()) return share_interval(figure.shares);
  if (figure.in_unit)
    return bootstrap_or_wilson(bootstrap_interval(tasks, figure.statistic, seed), value, figure.tasks);
  return bootstrap_alone(tasks, figure.statistic, seed);
}

// The shares of the tasks for which both figures are defined, in pairs.
std::pair<Shares, Shares> shares_of_both(const TaskFigure& a, const TaskFigure& b) {
  std::pair<Shares, Shares> both;
  for (std::size_t i = 0; i < a.shares.size(); ++i) {
    if (!(a.shares[i].whole > 0) || !(b.shares[i].whole > 0)) continue;
    both.first.push_back(a.shares[i]);
    both.second.push_back(b.shares[i]);
  }
  return both;
}

}  // namespace

std::vector<TaskEpisodes> tasks_of(const std::vector<EpisodeOutcome>& outcomes) {
  std::map<std::uint64_t, TaskEpisodes> by_index;
  for (const EpisodeOutcome& outcome : outcomes) {
    TaskEpisodes& task = by_index[outcome.task_index];
    if (outcome.failed) continue;
    if (outcome.sample == record::kGreedySample)
      task.greedy = &outcome;
    else
      task.samples.push_back(&outcome);
  }
  std::vector<TaskEpisodes> tasks;
  for (auto& [index, task] : by_index) {
    task.index = index;
    std::sort(task.samples.begin(), task.samples.end(),
              [](const EpisodeOutcome* a, const EpisodeOutcome* b) { return a->sample < b->sample; });
    tasks.push_back(std::move(task));
  }
  return tasks;
}

int samples_of(const std::vector<EpisodeOutcome>& outcomes) {
  int samples = 0;
  for (const EpisodeOutcome& outcome : outcomes) samples = std::max(samples, outcome.sample + 1);
  return samples;
}

std::map<std::string, TaskFigure> figures_of(const std::vector<TaskEpisodes>& tasks, int samples) {
  Figures figures(tasks);
  add_sample_figures(figures, samples);
  figures.add_task_mean("greedy", greedy_success, one_draw);
  figures.add_task_mean("pass_at_1", mean_success, sample_count);
  figures.add_task_mean("mean_reward", mean_reward, sample_count);
  add_score_figures(figures, tasks);
  if (has_steps(tasks))
    figures.add_ratio(
        "step_success", [](const TaskEpisodes& task) { return steps_of(task, &EpisodeOutcome::right_steps); },
        [](const TaskEpisodes& task) { return steps_of(task, &EpisodeOutcome::steps); },
        [](const TaskEpisodes& task) { return steps_of(task, &EpisodeOutcome::steps); });
  if (has_two_turns(tasks)) {
    add_two_turn_figures(figures, "", false);
    add_two_turn_figures(figures, kGreedyTurns, true);
  }
  return figures.figures();
}

std::vector<int> sizes_up_to(int samples) {
  std::vector<int> sizes;
  for (int size = 1; size < samples; size *= 2) sizes.push_back(size);
  if (samples > 0) sizes.push_back(samples);
  return sizes;
}

Estimate estimate_of(std::size_t tasks, const TaskFigure& figure, std::uint64_t seed) {
  const double value = value_of(tasks, figure.statistic);
  return {value, std::isnan(value) ? Interval{kNaN, kNaN} : interval_of(tasks, figure, value, seed), figure.tasks};
}

Estimate difference_of(std::size_t tasks, const TaskFigure& minuend, const TaskFigure& subtrahend, std::uint64_t seed) {
  const auto is_share = [](const TaskFigure& one) { return !one.shares.empty() && one.less.empty(); };
  if (is_share(minuend) && is_share(subtrahend)) {
    const auto [a, b] = shares_of_both(minuend, subtrahend);
    return {share_of(a) - share_of(b), paired_difference_interval(a, b), a.size()};
  }
  const Statistic difference = [&](auto drawn) { return minuend.statistic(drawn) - subtrahend.statistic(drawn); };
  Interval interval = bootstrap_alone(tasks, difference, seed);
  const Estimate a = estimate_of(tasks, minuend, seed), b = estimate_of(tasks, subtrahend, seed);
  if (std::isnan(interval.low) || std::min(a.tasks, b.tasks) < kFewTasks)
    interval = difference_interval(a.value, a.interval, b.value, b.interval);
  return {value_of(tasks, difference), interval, std::min(a.tasks, b.tasks)};
}

TurnTypes turn_types(const std::vector<TaskEpisodes>& tasks, bool greedy) {
  TurnTypes types{};
  for (const TaskEpisodes& task : tasks)
    for (const EpisodeOutcome* one : answered_twice(task, greedy))
      ++types[2 * std::size_t{one->turn_correct[0]} + std::size_t{one->turn_correct[1]}];
  return types;
}

}  // namespace agon::agents
