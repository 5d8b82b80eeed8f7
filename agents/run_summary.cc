#include "agents/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "agents/task_figures.h"
#include "env/grading/box_text.h"

#include "core/provenance.h"

namespace agon::agents {
namespace {

constexpr const char *kVerified = "verified", *kVerifiedMajority = "verified_majority", *kNotFitting = "not_fitting";

// Calls visit(name, figure) for each figure, with the name that its interval has in "ci".
template <typename Figures, typename Visit>
void for_each_figure(Figures& figures, const Visit& visit) {
  visit("greedy", figures.greedy);
  visit("pass_at_1", figures.pass_at_1);
  visit("mean_reward", figures.mean_reward);
  for (auto& [k, figure] : figures.pass_at_k) visit(fmt::format("pass_at_{}", k), figure);
  for (auto& [n, figure] : figures.best_of_n) visit(fmt::format("best_of_{}", n), figure);
  for (auto& [n, figure] : figures.majority) visit(fmt::format("majority_{}", n), figure);
  visit("score_auc", figures.score_auc);
  visit("score_ap", figures.score_ap);
  if (figures.step_success) visit("step_success", *figures.step_success);
  if (!figures.two_turn) return;
  for (const TwoTurnColumn& column : kTwoTurnColumns) {
    visit(column.name, figures.two_turn->samples.*column.figure);
    visit(std::string(kGreedyTurns) + column.name, figures.two_turn->greedy.*column.figure);
  }
}

using NamedFigures = std::map<std::string, TaskFigure>;

// Figures without values, for these sizes.
RunFigures undefined_figures(const std::vector<int>& sizes, bool step_success, bool two_turn) {
  RunFigures figures;
  for (const int size : sizes) figures.pass_at_k[size] = figures.best_of_n[size] = figures.majority[size] = {};
  if (step_success) figures.step_success.emplace();
  if (two_turn) figures.two_turn.emplace();
  return figures;
}

std::int64_t scored_samples(const TaskEpisodes& task) {
  return std::ranges::count_if(task.samples, [](const EpisodeOutcome* sample) { return sample->score.has_value(); });
}

// The tasks of `tasks` that are also in `others`.
std::vector<TaskEpisodes> common_tasks(const std::vector<TaskEpisodes>& tasks,
                                       const std::vector<TaskEpisodes>& others) {
  std::vector<TaskEpisodes> common;
  std::ranges::set_intersection(tasks, others, std::back_inserter(common), {}, &TaskEpisodes::index,
                                &TaskEpisodes::index);
  return common;
}

std::optional<std::string> text_in(const Json& config, const char* key) {
  const Json value = config.value(key, Json());
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

// ---- JSON ----

template <typename Value>
Json json_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json values_json(const BySize& figures) {
  Json json = Json::object();
  for (const auto& [size, figure] : figures) json[std::to_string(size)] = number_or_null(figure.value);
  return json;
}

Json types_json(const TurnTypes& types) {
  Json json = Json::object();
  for (std::size_t type = 0; type < types.size(); ++type) json[kTurnTypes[type]] = types[type];
  return json;
}

Json two_turn_json(const RunSummary& summary) {
  Json json = Json::object();
  const auto add = [&](const std::string& prefix, const TwoTurnFigures& figures, const TurnTypes& types) {
    for (const TwoTurnColumn& column : kTwoTurnColumns)
      json[prefix + column.name] = number_or_null((figures.*column.figure).value);
    json[prefix + "types"] = types_json(types);
  };
  add("", summary.figures.two_turn->samples, summary.types);
  add(kGreedyTurns, summary.figures.two_turn->greedy, summary.greedy_types);
  return json;
}

// All figures, sorted by name.
std::map<std::string, Estimate> by_name(const RunFigures& figures) {
  std::map<std::string, Estimate> named;
  for_each_figure(figures, [&](const std::string& name, const Estimate& figure) { named[name] = figure; });
  return named;
}

void add_intervals(const std::string& prefix, const BySize& figures, Json& json) {
  for (const auto& [size, figure] : figures) add_interval(json, fmt::format("{}_{}", prefix, size), figure);
}

void add_verified(const VerifiedFigures& verified, Json& json) {
  json["verifier"] = verified.verifier;
  json[kVerified] = values_json(verified.best);
  if (!verified.majority.empty()) json[kVerifiedMajority] = values_json(verified.majority);
  json[kNotFitting] = verified.not_fitting;
  add_intervals(kVerified, verified.best, json);
  add_intervals(kVerifiedMajority, verified.majority, json);
}

double number_or_nan(const Json& json) { return json.is_number() ? json.get<double>() : Estimate::kUndefined; }

// An estimate with this value, and with the interval and number of tasks stored under `name`. Earlier versions did not
// store the number of tasks.
Estimate estimate_in(const Json& summary, const std::string& name, const Json& value) {
  const auto part = [&](const char* key) { return summary.value(key, Json::object()).value(name, Json()); };
  const Json interval = part("ci"), tasks = part("n");
  Estimate estimate;
  estimate.value = number_or_nan(value);
  if (interval.is_array() && interval.size() == 2)
    estimate.interval = {number_or_nan(interval[0]), number_or_nan(interval[1])};
  estimate.tasks = whole_number<std::size_t>(tasks, 0, std::numeric_limits<std::size_t>::max()).value_or(0);
  return estimate;
}

BySize by_size_in(const Json& summary, const std::string& prefix) {
  BySize figures;
  const Json values = summary.value(prefix, Json::object());
  for (const auto& [size, value] : values.items()) {
    int number = 0;
    const auto [end, fault] = std::from_chars(size.data(), size.data() + size.size(), number);
    if (fault == std::errc()) figures[number] = estimate_in(summary, prefix + "_" + size, value);
  }
  return figures;
}

}  // namespace

RunSummary summarize(const Json& config, const std::vector<EpisodeOutcome>& outcomes, double seconds) {
  const std::vector<TaskEpisodes> tasks = tasks_of(outcomes);
  RunSummary summary;
  summary.suite = text_in(config, "suite");
  summary.split = text_in(config, "split");
  summary.level = whole_number<int>(config.value("level", Json()), 0, std::numeric_limits<int>::max());
  summary.tasks = tasks.size();
  summary.samples = samples_of(outcomes);
  const NamedFigures named = figures_of(tasks, summary.samples);
  const auto seed = config.value("seed", std::uint64_t{0});
  summary.figures =
      undefined_figures(sizes_up_to(summary.samples), named.contains("step_success"), named.contains("acc_t1"));
  for_each_figure(summary.figures, [&](const std::string& name, Estimate& figure) {
    figure = estimate_of(tasks.size(), named.at(name), seed);
  });
  for (const TaskEpisodes& task : tasks) {
    summary.valid_scores += scored_samples(task);
    summary.missing_scores += std::ssize(task.samples) - scored_samples(task);
  }
  summary.types = turn_types(tasks, false);
  summary.greedy_types = turn_types(tasks, true);
  for (const EpisodeOutcome& outcome : outcomes) {
    summary.tokens += outcome.tokens;
    summary.failed += outcome.failed;
  }
  if (const std::optional<Price> price = price_in(config)) {
    summary.usd = 0;
    for (const EpisodeOutcome& outcome : outcomes) *summary.usd += usd_of(outcome, *price);
  }
  summary.seconds = seconds;
  return summary;
}

double usd_of(const EpisodeOutcome& outcome, const Price& price) {
  return price.of(outcome.prompt_tokens, outcome.tokens);
}

std::optional<Price> price_in(const Json& config) {
  const Json::json_pointer place(std::string("/") + kProvenance + "/policy/price");
  if (!config.contains(place)) return std::nullopt;
  const Json& price = config.at(place);
  return Price{price.value("input", 0.0), price.value("output", 0.0)};
}

Json to_json(const RunSummary& summary) {
  const RunFigures& figures = summary.figures;
  Json json{{"suite", json_or_null(summary.suite)},
            {"split", json_or_null(summary.split)},
            {"level", json_or_null(summary.level)},
            {"tasks", summary.tasks},
            {"samples", summary.samples},
            {"greedy", number_or_null(figures.greedy.value)},
            {"pass_at_1", number_or_null(figures.pass_at_1.value)},
            {"mean_reward", number_or_null(figures.mean_reward.value)},
            {"pass_at_k", values_json(figures.pass_at_k)},
            {"best_of_n", values_json(figures.best_of_n)},
            {"majority", values_json(figures.majority)}};
  json["score"] = {{"auc", number_or_null(figures.score_auc.value)},
                   {"ap", number_or_null(figures.score_ap.value)},
                   {"missing", summary.missing_scores},
                   {"valid", summary.valid_scores}};
  if (figures.step_success) json["step_success"] = number_or_null(figures.step_success->value);
  if (figures.two_turn) json["two_turn"] = two_turn_json(summary);
  json["tokens"] = summary.tokens;
  if (summary.usd) {
    const double tasks = static_cast<double>(summary.tasks);
    json["cost"] = {{"usd", *summary.usd}, {"usd_per_task", number_or_null(*summary.usd / tasks)}};
  }
  json["seconds"] = number_or_null(summary.seconds);
  json["failed"] = summary.failed;
  json["ci"] = Json::object();
  json["n"] = Json::object();
  for (const auto& [name, figure] : by_name(figures)) add_interval(json, name, figure);
  if (summary.verified) add_verified(*summary.verified, json);
  return json;
}

std::optional<VerifiedFigures> verified_in(const Json& summary) {
  if (!summary.is_object() || !summary.contains(kVerified)) return std::nullopt;
  VerifiedFigures verified;
  verified.verifier = summary.value("verifier", "");
  verified.best = by_size_in(summary, kVerified);
  verified.majority = by_size_in(summary, kVerifiedMajority);
  verified.not_fitting = summary.value(kNotFitting, std::set<int>());
  return verified;
}

RunDifference compare(const std::vector<EpisodeOutcome>& first, const std::vector<EpisodeOutcome>& other,
                      std::uint64_t seed) {
  const std::vector<TaskEpisodes> of_first = tasks_of(first), of_other = tasks_of(other);
  const std::vector<TaskEpisodes> before = common_tasks(of_first, of_other), after = common_tasks(of_other, of_first);
  const NamedFigures minuends = figures_of(after, samples_of(other)),
                     subtrahends = figures_of(before, samples_of(first));
  const auto both_have = [&](const char* name) { return minuends.contains(name) && subtrahends.contains(name); };
  std::vector<int> sizes;
  std::ranges::set_intersection(sizes_up_to(samples_of(first)), sizes_up_to(samples_of(other)),
                                std::back_inserter(sizes));
  RunDifference difference{undefined_figures(sizes, both_have("step_success"), both_have("acc_t1"))};
  for_each_figure(difference.figures, [&](const std::string& name, Estimate& figure) {
    figure = difference_of(before.size(), minuends.at(name), subtrahends.at(name), seed);
  });
  return difference;
}

Json to_json(const RunDifference& difference) {
  Json json{{"ci", Json::object()}, {"n", Json::object()}};
  for (const auto& [name, figure] : by_name(difference.figures)) {
    json[name] = number_or_null(figure.value);
    add_interval(json, name, figure);
  }
  return json;
}

std::vector<GroupAccuracy> accuracy_by(const std::vector<EpisodeOutcome>& outcomes, std::uint64_t seed,
                                       const std::function<std::string(const EpisodeOutcome&)>& name) {
  std::map<std::string, std::vector<EpisodeOutcome>> groups;
  for (const EpisodeOutcome& outcome : outcomes) groups[name(outcome)].push_back(outcome);
  std::vector<GroupAccuracy> all;
  for (const auto& [group, members] : groups) {
    const std::vector<TaskEpisodes> tasks = tasks_of(members);
    const NamedFigures figures = figures_of(tasks, 0);
    const auto estimate = [&](const char* figure) { return estimate_of(tasks.size(), figures.at(figure), seed); };
    all.push_back({group, tasks.size(), estimate("greedy").value, estimate("pass_at_1")});
  }
  return all;
}

}  // namespace agon::agents
