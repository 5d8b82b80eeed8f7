#include "critic/search/summary.h"

#include <fmt/format.h>

#include <cmath>

#include "core/intervals.h"
#include "record/journal_entry.h"

namespace agon::critic {
namespace {

constexpr const char* kSettings[] = {"method", "suite", "split", "level", "policy", "critic", "budget"};

Estimate accuracy_of(const std::vector<TaskShare>& right) {
  return {share_of(right), share_interval(right), right.size()};
}

Json settings_in(const Json& config) {
  Json settings;
  for (const char* key : kSettings) settings[key] = config.value(key, Json());
  return settings;
}

void add(const SearchOutcome& outcome, SearchSummary& summary) {
  summary.spent.policy_tokens += outcome.spent.policy_tokens;
  summary.spent.critic_tokens += outcome.spent.critic_tokens;
  summary.spent.env_steps += outcome.spent.env_steps;
  summary.spent.tool_seconds += outcome.spent.tool_seconds;
  summary.spent.speculative_tokens += outcome.spent.speculative_tokens;
  summary.nodes += outcome.nodes;
  summary.budget_exhausted += !outcome.exhausted.empty();
  summary.unanswered += !outcome.answered;
  summary.judged += outcome.judged;
  summary.invalid_verdicts += outcome.invalid;
  summary.unknown_verdicts += outcome.unknown;
  summary.unranked += outcome.unranked;
  summary.steps_rejected += outcome.rejected;
  for (const auto& [number, count] : outcome.attempts) summary.attempts[number] += count;
}

// Calls visit(name, sum) for each sum that has a mean per task.
template <typename Visit>
void for_each_sum(const SearchSummary& summary, const Visit& visit) {
  visit("policy_tokens", summary.spent.policy_tokens);
  visit("critic_tokens", summary.spent.critic_tokens);
  visit("env_steps", summary.spent.env_steps);
  visit("tool_seconds", summary.spent.tool_seconds);
  visit("speculative_tokens", summary.spent.speculative_tokens);
  visit("nodes", summary.nodes);
}

template <typename Number>
double per_task(Number sum, const SearchSummary& summary) {
  return static_cast<double>(sum) / static_cast<double>(summary.accuracy.tasks);  // 0 / 0: NaN
}

std::int64_t failed_tasks(const record::RunReader& run) {
  std::int64_t failed = 0;
  run.for_each([&](const record::Episode& episode) { failed += episode.status == record::EpisodeStatus::failed; },
               record::RunReader::Detail::without_turns);
  return failed;
}

std::string shown(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "-" : value.dump();
}

std::string accuracy_line(const std::string& label, const Estimate& accuracy) {
  return fmt::format("{:<18}{:>7}   {}   {:>6}\n", label, figure_text(accuracy.value), interval_text(accuracy.interval),
                     accuracy.tasks);
}

std::string sum_text(std::int64_t sum) { return std::to_string(sum); }
std::string sum_text(double sum) { return fmt::format("{:.2f}", sum); }

std::string title_of(const Json& settings) {
  std::string title =
      fmt::format("{} on {}, level {}, {} split; policy {}", shown(settings.at("method")), shown(settings.at("suite")),
                  shown(settings.at("level")), shown(settings.at("split")), shown(settings.at("policy")));
  if (const Json& critic = settings.at("critic"); critic.is_object())
    title += fmt::format(", critic {}{}", shown(critic.at("critic")),
                         critic.contains("policy") ? fmt::format(" {}", shown(critic.at("policy"))) : "");
  return title;
}

}  // namespace

std::vector<SearchOutcome> search_outcomes(const record::RunReader& run, std::size_t& damaged) {
  std::vector<SearchOutcome> outcomes;
  damaged = 0;
  for (const record::JournalEntry& entry : run.journal_ends("result", [&](const Error&) { ++damaged; })) try {
      outcomes.push_back(outcome_in(entry.body));
    } catch (const std::exception&) {  // a missing key, or a value of another type
      ++damaged;
    }
  return outcomes;
}

SearchSummary summarize_searches(const record::RunReader& run) {
  std::size_t damaged = 0;
  const std::vector<SearchOutcome> outcomes = search_outcomes(run, damaged);
  SearchSummary summary;
  summary.settings = settings_in(run.config());
  std::vector<TaskShare> right;
  std::map<int, std::vector<TaskShare>> right_by_level;
  for (const SearchOutcome& outcome : outcomes) {
    add(outcome, summary);
    right.push_back({outcome.success ? 1.0 : 0.0});
    right_by_level[outcome.level].push_back(right.back());
  }
  summary.accuracy = accuracy_of(right);
  for (const auto& [level, of_level] : right_by_level) summary.by_level[level] = accuracy_of(of_level);
  summary.spent.wall_seconds = run.seconds();
  summary.failed = failed_tasks(run);
  summary.damaged = static_cast<std::int64_t>(damaged);
  return summary;
}

Json to_json(const SearchSummary& summary) {
  Json json = summary.settings;
  json["tasks"] = summary.accuracy.tasks;
  json["accuracy"] = number_or_null(summary.accuracy.value);
  json["ci"] = {{"accuracy", interval_json(summary.accuracy.interval)}};
  Json means = Json::object();
  for_each_sum(summary, [&](const char* name, auto sum) {
    json[name] = sum;
    means[name] = number_or_null(per_task(sum, summary));
  });
  json["per_task"] = std::move(means);
  json["wall_seconds"] = summary.spent.wall_seconds;
  json["budget_exhausted"] = summary.budget_exhausted;
  json["unanswered"] = summary.unanswered;
  json["failed"] = summary.failed;
  json["damaged"] = summary.damaged;
  json["judged"] = summary.judged;
  json["invalid_verdicts"] = summary.invalid_verdicts;
  json["unknown_verdicts"] = summary.unknown_verdicts;
  json["unranked"] = summary.unranked;
  json["steps_rejected"] = summary.steps_rejected;
  json["attempts"] = Json::object();
  for (const auto& [number, count] : summary.attempts) json["attempts"][std::to_string(number)] = count;
  json["by_level"] = Json::object();
  for (const auto& [level, accuracy] : summary.by_level)
    json["by_level"][std::to_string(level)] = {{"tasks", accuracy.tasks},
                                               {"accuracy", number_or_null(accuracy.value)},
                                               {"ci", interval_json(accuracy.interval)}};
  return json;
}

std::string search_table(const SearchSummary& summary) {
  std::string table = title_of(summary.settings);
  table += fmt::format("\n\n{:<18}{:>7}   {:<16} {:>6}\n", "", "right", "95 % interval", "tasks");
  table += accuracy_line("all", summary.accuracy);
  if (summary.by_level.size() > 1)
    for (const auto& [level, accuracy] : summary.by_level)
      table += accuracy_line(fmt::format("level {}", level), accuracy);
  table += fmt::format("\n{:<18}{:>12}{:>12}\n", "spent", "in all", "a task");
  for_each_sum(summary, [&](const char* name, auto sum) {
    const double mean = per_task(sum, summary);
    table += fmt::format("{:<18}{:>12}{:>12}\n", name, sum_text(sum),
                         std::isfinite(mean) ? fmt::format("{:.2f}", mean) : "-");
  });
  table += fmt::format("{:<18}{:>12.1f}\n\n", "wall_seconds", summary.spent.wall_seconds);
  const auto line = [&](std::int64_t count, const char* words) {
    if (count > 0) table += fmt::format("{} {}\n", count, words);
  };
  line(summary.steps_rejected, "steps were rejected or pruned");
  if (!summary.attempts.empty()) {
    table += "steps kept at attempt";
    for (const auto& [number, count] : summary.attempts) table += fmt::format("  {}: {}", number, count);
    table += '\n';
  }
  line(summary.budget_exhausted, "tasks used up their budget");
  line(summary.unanswered, "tasks were not answered, and count as wrong");
  line(summary.invalid_verdicts, "verdicts could not be read");
  line(summary.unknown_verdicts, "steps that the critic could not judge");
  line(summary.unranked, "trajectories had no rank");
  line(summary.failed, "tasks failed and are excluded from all figures");
  line(summary.damaged, "tasks have a damaged journal and are excluded from all figures");
  return table;
}

}  // namespace agon::critic
