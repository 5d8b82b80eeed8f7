#include "agents/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "env/box.h"
#include "env/grade.h"

namespace agon::agents {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The episodes of a task that count, samples in order.
struct Task {
  std::vector<const EpisodeOutcome*> samples;
  const EpisodeOutcome* greedy = nullptr;
};
using Samples = std::span<const EpisodeOutcome* const>;
using Pick = const EpisodeOutcome* (*)(Samples);
using TaskFigure = std::function<double(const Task&)>;

std::vector<Task> tasks_of(const std::vector<EpisodeOutcome>& outcomes) {
  std::map<std::uint64_t, Task> by_index;
  for (const EpisodeOutcome& outcome : outcomes) {
    Task& task = by_index[outcome.task_index];
    if (outcome.failed) continue;
    if (outcome.sample == env::kGreedySample)
      task.greedy = &outcome;
    else
      task.samples.push_back(&outcome);
  }
  std::vector<Task> tasks;
  for (auto& [index, task] : by_index) {
    std::sort(task.samples.begin(), task.samples.end(),
              [](const EpisodeOutcome* a, const EpisodeOutcome* b) { return a->sample < b->sample; });
    tasks.push_back(std::move(task));
  }
  return tasks;
}

double greedy_success(const Task& task) { return task.greedy ? task.greedy->success : kNaN; }

double mean_success(const Task& task) {
  double right = 0;
  for (const EpisodeOutcome* sample : task.samples) right += sample->success;
  return right / static_cast<double>(task.samples.size());  // 0 / 0: NaN
}

double mean_reward(const Task& task) {
  double sum = 0;
  for (const EpisodeOutcome* sample : task.samples) sum += sample->reward;
  return sum / static_cast<double>(task.samples.size());
}

double pass_of(const Task& task, int k) {
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

// Numbers vote together by value ("7", "7.0"); other answers by their normalised text.
std::string vote_of(const std::string& answer) {
  const std::optional<double> number = env::parse_number(answer);
  return number ? fmt::format("{:.12g}", *number) : fmt::format("={}", env::normalize_answer(answer));
}

const EpisodeOutcome* most_frequent(Samples samples) {
  std::map<std::string, std::size_t> votes;
  std::size_t most = 0;
  for (const EpisodeOutcome* sample : samples)
    if (sample->answer) most = std::max(most, ++votes[vote_of(*sample->answer)]);
  const auto first = std::find_if(samples.begin(), samples.end(), [&](const EpisodeOutcome* sample) {
    return sample->answer && votes[vote_of(*sample->answer)] == most;
  });
  return first == samples.end() ? samples.front() : *first;
}

const EpisodeOutcome* majority(Samples samples) {
  std::vector<env::Box> boxes;
  std::vector<const EpisodeOutcome*> owners;
  for (const EpisodeOutcome* sample : samples) {
    if (!sample->answer_is_box) continue;
    boxes.push_back(env::parse_box(*sample->answer).value());
    owners.push_back(sample);
  }
  return boxes.empty() ? most_frequent(samples) : owners[env::largest_cluster(boxes).front()];
}

// Success of what `pick` takes from each block of n samples, averaged; a last, smaller block is left out.
double success_by_blocks(const Task& task, int n, Pick pick) {
  const auto size = static_cast<std::size_t>(n);
  double right = 0, blocks = 0;
  for (std::size_t begin = 0; begin + size <= task.samples.size(); begin += size, ++blocks)
    right += pick(Samples(task.samples).subspan(begin, size))->success;
  return right / blocks;
}

double step_success(const std::vector<Task>& tasks, std::span<const std::size_t> indices) {
  double steps = 0, right = 0;
  for (const std::size_t index : indices)
    for (const EpisodeOutcome* sample : tasks[index].samples) {
      steps += sample->steps;
      right += sample->right_steps;
    }
  return right / steps;
}

// A sample with a score.
struct Scored {
  std::size_t task = 0;
  double score = 0;
  int label = 0;
};

// Highest score first: the resamples that are drawn from it are in order too, which the curves are quickest on.
std::vector<Scored> scored_samples(const std::vector<Task>& tasks) {
  std::vector<Scored> all;
  for (std::size_t task = 0; task < tasks.size(); ++task)
    for (const EpisodeOutcome* sample : tasks[task].samples)
      if (sample->score) all.push_back({task, *sample->score, sample->success});
  std::stable_sort(all.begin(), all.end(), [](const Scored& a, const Scored& b) { return a.score > b.score; });
  return all;
}

using Curve = double (*)(std::span<const double>, std::span<const int>);
double score_figure(const std::vector<Scored>& samples, std::span<const std::size_t> tasks, Curve curve) {
  std::vector<int> times(tasks.size());  // that each task was drawn
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

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

// Computes figures over the tasks and their intervals beside them.
class Figures {
 public:
  Figures(std::vector<Task> tasks, std::uint64_t seed) : tasks_(std::move(tasks)), seed_(seed), all_(tasks_.size()) {
    for (std::size_t i = 0; i < all_.size(); ++i) all_[i] = i;
  }

  using Statistic = std::function<double(std::span<const std::size_t>)>;
  Json pooled(const std::string& name, const Statistic& statistic) {
    const double value = statistic(all_);
    const Interval interval = bootstrap_interval(tasks_.size(), statistic, seed_);
    if (std::isfinite(value)) intervals_[name] = {number_or_null(interval.low), number_or_null(interval.high)};
    return number_or_null(value);
  }
  Json task_mean(const std::string& name, const TaskFigure& figure) {
    std::vector<double> values;
    for (const Task& task : tasks_) values.push_back(figure(task));
    return pooled(name, [&](std::span<const std::size_t> indices) { return mean_of_defined(values, indices); });
  }
  const std::vector<Task>& tasks() const { return tasks_; }
  const Json& intervals() const { return intervals_; }

 private:
  std::vector<Task> tasks_;
  std::uint64_t seed_;
  std::vector<std::size_t> all_;
  Json intervals_ = Json::object();
};

// 1, 2, 4, ... and the number itself.
std::vector<int> sizes_up_to(int samples) {
  std::vector<int> sizes;
  for (int size = 1; size < samples; size *= 2) sizes.push_back(size);
  if (samples > 0) sizes.push_back(samples);
  return sizes;
}

Json by_size(int samples, const std::function<Json(int)>& figure) {
  Json all = Json::object();
  for (const int size : sizes_up_to(samples)) all[std::to_string(size)] = figure(size);
  return all;
}

int samples_of(const std::vector<EpisodeOutcome>& outcomes) {
  int samples = 0;
  for (const EpisodeOutcome& outcome : outcomes) samples = std::max(samples, outcome.sample + 1);
  return samples;
}

Json score_figures(Figures& figures) {
  const std::vector<Task>& tasks = figures.tasks();
  std::int64_t missing = 0;
  for (const Task& task : tasks)
    missing += std::count_if(task.samples.begin(), task.samples.end(), [](auto* sample) { return !sample->score; });
  const std::vector<Scored> samples = scored_samples(tasks);
  Json score;
  score["auc"] = figures.pooled("score_auc", [&](auto drawn) { return score_figure(samples, drawn, roc_auc); });
  score["ap"] = figures.pooled("score_ap", [&](auto drawn) { return score_figure(samples, drawn, average_precision); });
  score["missing"] = missing;
  return score;
}

std::string cell(const Json& value) { return value.is_number() ? fmt::format("{:.3f}", value.get<double>()) : "-"; }

std::string metric_line(const std::string& label, const Json& value, const Json& intervals, const std::string& name) {
  std::string line = fmt::format("{:<16}{:>7}", label, cell(value));
  if (intervals.contains(name))
    line += fmt::format("   [{}, {}]", cell(intervals.at(name).at(0)), cell(intervals.at(name).at(1)));
  return line + '\n';
}

std::string size_line(const std::string& label, const Json& by_size) {
  std::string line = fmt::format("{:<16}", label);
  for (const auto& [size, value] : by_size.items()) line += fmt::format("{:>7}", cell(value));
  return line + '\n';
}

}  // namespace

EpisodeOutcome outcome_of(const env::Episode& episode) {
  EpisodeOutcome outcome;
  outcome.task_index = episode.task_index;
  outcome.sample = episode.sample;
  outcome.level = episode.level;
  outcome.kind = episode.kind;
  outcome.failed = episode.status == env::EpisodeStatus::failed;
  outcome.success = episode.success;
  outcome.reward = episode.reward;
  outcome.score = episode.score;
  outcome.answer = episode.answer;
  const Json& gold = episode.gold;
  const bool gold_is_box = env::parse_box(gold.is_string() ? gold.get<std::string>() : gold.dump()).has_value();
  outcome.answer_is_box = gold_is_box && episode.answer && env::parse_box(*episode.answer);
  for (const env::Turn& turn : episode.turns) {
    outcome.tokens += static_cast<std::int64_t>(turn.token_ids.size());
    if (!turn.info.is_object() || !turn.info.contains("step_correct")) continue;
    ++outcome.steps;
    outcome.right_steps += turn.info.at("step_correct") == true;
  }
  return outcome;
}

Json summarize(const Json& config, const std::vector<EpisodeOutcome>& outcomes, double seconds) {
  Figures figures(tasks_of(outcomes), config.value("seed", std::uint64_t{0}));
  const int samples = samples_of(outcomes);
  std::int64_t tokens = 0, failed = 0, steps = 0;
  for (const EpisodeOutcome& outcome : outcomes) {
    tokens += outcome.tokens;
    failed += outcome.failed;
    steps += outcome.failed ? 0 : outcome.steps;
  }
  Json summary;
  for (const char* key : {"suite", "split", "level"}) summary[key] = config.value(key, Json());
  summary["tasks"] = figures.tasks().size();
  summary["samples"] = samples;
  summary["greedy"] = figures.task_mean("greedy", greedy_success);
  summary["pass_at_1"] = figures.task_mean("pass_at_1", mean_success);
  summary["pass_at_k"] = by_size(samples, [&](int k) {
    return figures.task_mean(fmt::format("pass_at_{}", k), [k](const Task& task) { return pass_of(task, k); });
  });
  const auto by_blocks = [&](const std::string& name, Pick pick) {
    return by_size(samples, [&](int n) {
      return figures.task_mean(name + std::to_string(n),
                               [n, pick](const Task& task) { return success_by_blocks(task, n, pick); });
    });
  };
  summary["best_of_n"] = by_blocks("best_of_", best_scored);
  summary["majority"] = by_blocks("majority_", majority);
  summary["score"] = score_figures(figures);
  summary["mean_reward"] = figures.task_mean("mean_reward", mean_reward);
  if (steps > 0)
    summary["step_success"] =
        figures.pooled("step_success", [&](auto indices) { return step_success(figures.tasks(), indices); });
  summary["tokens"] = tokens;
  summary["seconds"] = number_or_null(seconds);
  summary["failed"] = failed;
  summary["ci"] = figures.intervals();
  return summary;
}

std::string summary_table(const Json& summary) {
  const auto text = [&](const char* key) {
    const Json value = summary.value(key, Json());
    return value.is_string() ? value.get<std::string>() : value.is_null() ? "-" : value.dump();
  };
  const Json& intervals = summary.at("ci");
  std::string table = fmt::format("{}, level {}, {} split: {} tasks x {} samples\n\n", text("suite"), text("level"),
                                  text("split"), text("tasks"), text("samples"));
  table += fmt::format("{:<16}{:>7}   95 % interval\n", "", "value");
  table += metric_line("greedy", summary.at("greedy"), intervals, "greedy");
  table += metric_line("pass@1", summary.at("pass_at_1"), intervals, "pass_at_1");
  if (summary.contains("step_success"))
    table += metric_line("step success", summary.at("step_success"), intervals, "step_success");
  table += metric_line("mean reward", summary.at("mean_reward"), intervals, "mean_reward");
  table += metric_line("score AUC", summary.at("score").at("auc"), intervals, "score_auc");
  table += metric_line("score AP", summary.at("score").at("ap"), intervals, "score_ap");
  table += fmt::format("\n{:<16}", "N samples");
  for (const auto& [size, value] : summary.at("pass_at_k").items()) table += fmt::format("{:>7}", size);
  table += '\n';
  table += size_line("pass@N", summary.at("pass_at_k"));
  table += size_line("best-of-N", summary.at("best_of_n"));
  table += size_line("majority", summary.at("majority"));
  const auto tokens = summary.at("tokens").get<std::int64_t>();
  table += fmt::format("\n{} tokens", tokens);
  if (const Json& seconds = summary.at("seconds"); seconds.is_number() && seconds > 0)
    table += fmt::format(" in {:.1f} s ({:.0f} a second)", seconds.get<double>(),
                         static_cast<double>(tokens) / seconds.get<double>());
  if (const auto missing = summary.at("score").at("missing").get<std::int64_t>(); missing > 0)
    table += fmt::format("\n{} samples have no valid score", missing);
  if (const auto failed = summary.at("failed").get<std::int64_t>(); failed > 0)
    table += fmt::format("\n{} episodes failed and are in no figure", failed);
  return table + '\n';
}

std::vector<GroupAccuracy> accuracy_by(const std::vector<EpisodeOutcome>& outcomes, std::uint64_t seed,
                                       const std::function<std::string(const EpisodeOutcome&)>& name) {
  std::map<std::string, std::vector<EpisodeOutcome>> groups;
  for (const EpisodeOutcome& outcome : outcomes) groups[name(outcome)].push_back(outcome);
  const auto value_of = [](const Json& number) { return number.is_number() ? number.get<double>() : kNaN; };
  std::vector<GroupAccuracy> all;
  for (const auto& [group, members] : groups) {
    Figures figures(tasks_of(members), seed);
    GroupAccuracy& accuracy = all.emplace_back();
    accuracy.name = group;
    accuracy.tasks = figures.tasks().size();
    accuracy.greedy = value_of(figures.task_mean("greedy", greedy_success));
    accuracy.pass_at_1 = value_of(figures.task_mean("pass_at_1", mean_success));
    const Json interval = figures.intervals().value("pass_at_1", Json::array({nullptr, nullptr}));
    accuracy.pass_at_1_interval = {value_of(interval.at(0)), value_of(interval.at(1))};
  }
  return all;
}

}  // namespace agon::agents
