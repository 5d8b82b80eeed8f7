#include "critic/search/summary.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "core/intervals.h"
#include "record/journal_entry.h"

namespace agon::critic {
namespace {

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

// {"tasks", "accuracy", "ci"} of those that `chosen` is true of.
template <typename Chosen>
Json accuracy_of(const std::vector<SearchOutcome>& outcomes, const Chosen& chosen) {
  std::vector<TaskShare> right;
  for (const SearchOutcome& outcome : outcomes)
    if (chosen(outcome)) right.push_back({outcome.success ? 1.0 : 0.0});
  const Interval interval = share_interval(right);
  return {{"tasks", right.size()},
          {"accuracy", number_or_null(share_of(right))},
          {"ci", {number_or_null(interval.low), number_or_null(interval.high)}}};
}

template <typename Value>
auto sum_of(const std::vector<SearchOutcome>& outcomes, const Value& value) {
  using Sum = decltype(value(outcomes.front()));
  return std::accumulate(outcomes.begin(), outcomes.end(), Sum{},
                         [&](Sum sum, const SearchOutcome& one) { return sum + value(one); });
}

Json attempts_json(const std::vector<SearchOutcome>& outcomes) {
  std::map<int, int> counts;
  for (const SearchOutcome& outcome : outcomes)
    for (const auto& [number, count] : outcome.attempts) counts[number] += count;
  Json json = Json::object();
  for (const auto& [number, count] : counts) json[std::to_string(number)] = count;
  return json;
}

std::size_t failed_tasks(const record::RunReader& run) {
  std::size_t failed = 0;
  run.for_each([&](const record::Episode& episode) { failed += episode.status == record::EpisodeStatus::failed; },
               record::RunReader::Detail::without_turns);
  return failed;
}

std::string shown(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "-" : value.dump();
}

std::string accuracy_line(const std::string& label, const Json& accuracy, const Json& interval, const Json& tasks) {
  const auto cell = [](const Json& value) {
    return value.is_number() ? fmt::format("{:.3f}", value.get<double>()) : "-";
  };
  return fmt::format("{:<18}{:>7}   [{}, {}]   {:>6}\n", label, cell(accuracy), cell(interval.at(0)),
                     cell(interval.at(1)), tasks.get<std::size_t>());
}

}  // namespace

std::vector<SearchOutcome> search_outcomes(const record::RunReader& run, std::size_t& damaged) {
  std::vector<SearchOutcome> outcomes;
  damaged = 0;
  for (const record::JournalEntry& entry : run.journal_ends("result", [&](const Error&) { ++damaged; })) try {
      outcomes.push_back(outcome_in(entry.body));
    } catch (const std::exception&) {  // a key that is missing, or of another type
      ++damaged;
    }
  return outcomes;
}

Json summarize_searches(const record::RunReader& run) {
  const Json config = run.config();
  std::size_t damaged = 0;
  const std::vector<SearchOutcome> outcomes = search_outcomes(run, damaged);
  const auto tasks = static_cast<double>(outcomes.size());
  Json summary;
  for (const char* key : {"method", "suite", "split", "level", "policy", "critic", "budget"})
    summary[key] = config.value(key, Json());
  const Json all = accuracy_of(outcomes, [](const SearchOutcome&) { return true; });
  summary["tasks"] = outcomes.size();
  summary["accuracy"] = all.at("accuracy");
  summary["ci"] = {{"accuracy", all.at("ci")}};
  Json per_task = Json::object();
  const auto add_sum = [&](const char* name, const auto& value) {
    const auto sum = sum_of(outcomes, value);
    summary[name] = sum;
    per_task[name] = number_or_null(static_cast<double>(sum) / tasks);
  };
  add_sum("policy_tokens", [](const SearchOutcome& one) { return one.spent.policy_tokens; });
  add_sum("critic_tokens", [](const SearchOutcome& one) { return one.spent.critic_tokens; });
  add_sum("env_steps", [](const SearchOutcome& one) { return one.spent.env_steps; });
  add_sum("tool_seconds", [](const SearchOutcome& one) { return one.spent.tool_seconds; });
  add_sum("speculative_tokens", [](const SearchOutcome& one) { return one.spent.speculative_tokens; });
  add_sum("nodes", [](const SearchOutcome& one) { return std::int64_t{one.nodes}; });
  summary["per_task"] = std::move(per_task);
  summary["wall_seconds"] = run.seconds();
  const auto count = [&](const char* name, const auto& value) { summary[name] = sum_of(outcomes, value); };
  count("budget_exhausted", [](const SearchOutcome& one) { return std::int64_t{!one.exhausted.empty()}; });
  count("unanswered", [](const SearchOutcome& one) { return std::int64_t{!one.answered}; });
  summary["failed"] = failed_tasks(run);
  summary["damaged"] = damaged;
  count("judged", [](const SearchOutcome& one) { return std::int64_t{one.judged}; });
  count("invalid_verdicts", [](const SearchOutcome& one) { return std::int64_t{one.invalid}; });
  count("unknown_verdicts", [](const SearchOutcome& one) { return std::int64_t{one.unknown}; });
  count("unranked", [](const SearchOutcome& one) { return std::int64_t{one.unranked}; });
  count("steps_rejected", [](const SearchOutcome& one) { return std::int64_t{one.rejected}; });
  summary["attempts"] = attempts_json(outcomes);
  Json levels = Json::object();
  std::map<int, int> seen;
  for (const SearchOutcome& outcome : outcomes) ++seen[outcome.level];
  for (const auto& [level, tasks_of_level] : seen)
    levels[std::to_string(level)] =
        accuracy_of(outcomes, [level = level](const SearchOutcome& one) { return one.level == level; });
  summary["by_level"] = std::move(levels);
  return summary;
}

std::string search_table(const Json& summary) {
  std::string table =
      fmt::format("{} on {}, level {}, {} split; policy {}", shown(summary.at("method")), shown(summary.at("suite")),
                  shown(summary.at("level")), shown(summary.at("split")), shown(summary.at("policy")));
  if (const Json& critic = summary.at("critic"); critic.is_object())
    table += fmt::format(", critic {}{}", shown(critic.at("critic")),
                         critic.contains("policy") ? fmt::format(" {}", shown(critic.at("policy"))) : "");
  table += fmt::format("\n\n{:<18}{:>7}   {:<16} {:>6}\n", "", "right", "95 % interval", "tasks");
  table += accuracy_line("all", summary.at("accuracy"), summary.at("ci").at("accuracy"), summary.at("tasks"));
  if (summary.at("by_level").size() > 1)
    for (const auto& [level, group] : summary.at("by_level").items())
      table += accuracy_line(fmt::format("level {}", level), group.at("accuracy"), group.at("ci"), group.at("tasks"));
  table += fmt::format("\n{:<18}{:>12}{:>12}\n", "spent", "in all", "a task");
  for (const auto& [name, mean] : summary.at("per_task").items()) {
    const Json& sum = summary.at(name);
    table += fmt::format("{:<18}{:>12}{:>12}\n", name,
                         sum.is_number_float() ? fmt::format("{:.2f}", sum.get<double>()) : sum.dump(),
                         mean.is_number() ? fmt::format("{:.2f}", mean.get<double>()) : "-");
  }
  table += fmt::format("{:<18}{:>12.1f}\n", "wall_seconds", summary.at("wall_seconds").get<double>());
  const auto line = [&](const char* name, const char* words) {
    if (const auto count = summary.at(name).get<std::int64_t>(); count > 0)
      table += fmt::format("{} {}\n", count, words);
  };
  table += '\n';
  line("steps_rejected", "steps were rejected or pruned");
  if (!summary.at("attempts").empty()) {
    table += "steps kept at attempt";
    for (const auto& [number, count] : summary.at("attempts").items())
      table += fmt::format("  {}: {}", number, count.dump());
    table += '\n';
  }
  line("budget_exhausted", "tasks came to the end of their budget");
  line("unanswered", "tasks were not answered, and count as wrong");
  line("invalid_verdicts", "verdicts could not be read");
  line("unknown_verdicts", "steps the critic had nothing to say of");
  line("unranked", "trajectories had no rank");
  line("failed", "tasks failed and are in no figure");
  line("damaged", "tasks have a damaged journal and are in no figure");
  return table;
}

}  // namespace agon::critic
