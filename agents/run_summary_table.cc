#include "agents/run_summary_table.h"

#include <fmt/format.h>

#include "agents/run_summary.h"

namespace agon::agents {
namespace {

std::string cell(const Json& value) { return value.is_number() ? fmt::format("{:.3f}", value.get<double>()) : "-"; }

// With the number of tasks; runs of before do not say it.
std::string value_and_interval(const Json& value, const Json& summary, const std::string& name) {
  std::string text = fmt::format("{:>7}", cell(value));
  const Json& intervals = summary.at("ci");
  if (!intervals.contains(name)) return text;
  text +=
      fmt::format("   {:<16}", fmt::format("[{}, {}]", cell(intervals.at(name).at(0)), cell(intervals.at(name).at(1))));
  if (const Json tasks = summary.value("n", Json::object()).value(name, Json()); tasks.is_number())
    text += fmt::format(" {:>6}", tasks.get<std::int64_t>());
  return text;
}

std::string metric_line(const std::string& label, const Json& value, const Json& summary, const std::string& name) {
  return fmt::format("{:<16}{}\n", label, value_and_interval(value, summary, name));
}

std::string size_line(const std::string& label, const Json& by_size) {
  std::string line = fmt::format("{:<16}", label);
  for (const auto& [size, value] : by_size.items()) line += fmt::format("{:>7}", cell(value));
  return line + '\n';
}

std::string types_line(const std::string& label, const Json& types) {
  std::string line = fmt::format("{:<16}", label);
  for (const auto& [type, count] : types.items()) line += fmt::format("  {}: {}", type, count.get<int>());
  return line + '\n';
}

// Samples and greedy answers side by side.
std::string two_turn_lines(const Json& two_turn, const Json& summary) {
  std::string lines = fmt::format("\n{:<16}{:>7}   {:<16} {:>6}{:>10}   {:<16} {:>6}\n", "two turns", "samples",
                                  "95 % interval", "tasks", "greedy", "95 % interval", "tasks");
  for (const TwoTurnFigure& figure : kTwoTurnFigures) {
    const std::string sampled = figure.name, greedy = kGreedyTurns + sampled;
    lines += fmt::format("{:<16}{:<36}{}\n", figure.label, value_and_interval(two_turn.at(sampled), summary, sampled),
                         value_and_interval(two_turn.at(greedy), summary, greedy));
  }
  return lines + types_line("types, samples", two_turn.at("types")) +
         types_line("types, greedy", two_turn.at("greedy_types"));
}

}  // namespace

std::string summary_table(const Json& summary) {
  const auto text = [&](const char* key) {
    const Json value = summary.value(key, Json());
    return value.is_string() ? value.get<std::string>() : value.is_null() ? "-" : value.dump();
  };
  std::string table = fmt::format("{}, level {}, {} split: {} tasks x {} samples\n\n", text("suite"), text("level"),
                                  text("split"), text("tasks"), text("samples"));
  table += fmt::format("{:<16}{:>7}   {:<16} {:>6}\n", "", "value", "95 % interval", "tasks");
  table += metric_line("greedy", summary.at("greedy"), summary, "greedy");
  table += metric_line("pass@1", summary.at("pass_at_1"), summary, "pass_at_1");
  if (summary.contains("step_success"))
    table += metric_line("step success", summary.at("step_success"), summary, "step_success");
  table += metric_line("mean reward", summary.at("mean_reward"), summary, "mean_reward");
  const auto missing = summary.at("score").at("missing").get<std::int64_t>();
  const bool scored = summary.at("score").value("valid", 1) > 0;  // runs of before do not say
  if (scored) {
    table += metric_line("score AUC", summary.at("score").at("auc"), summary, "score_auc");
    table += metric_line("score AP", summary.at("score").at("ap"), summary, "score_ap");
  }
  table += fmt::format("\n{:<16}", "N samples");
  for (const auto& [size, value] : summary.at("pass_at_k").items()) table += fmt::format("{:>7}", size);
  table += '\n';
  table += size_line("pass@N", summary.at("pass_at_k"));
  if (scored) table += size_line("best-of-N", summary.at("best_of_n"));
  table += size_line("majority", summary.at("majority"));
  if (summary.contains("verified")) table += size_line("verified", summary.at("verified"));
  if (summary.contains("verified_majority")) table += size_line("verified vote", summary.at("verified_majority"));
  if (const Json sizes = summary.value("not_fitting", Json::array()); !sizes.empty())
    table += fmt::format("verified leaves out N = {}: so many samples pass the verifier's context\n",
                         fmt::join(sizes.get<std::vector<std::size_t>>(), ", "));
  if (summary.contains("two_turn")) table += two_turn_lines(summary.at("two_turn"), summary);
  const auto tokens = summary.at("tokens").get<std::int64_t>();
  table += fmt::format("\n{} tokens", tokens);
  if (const Json& seconds = summary.at("seconds"); seconds.is_number() && seconds > 0)
    table += fmt::format(" in {:.1f} s ({:.0f} a second)", seconds.get<double>(),
                         static_cast<double>(tokens) / seconds.get<double>());
  if (missing > 0)
    table += scored ? fmt::format("\n{} samples have no valid score", missing) : "\nno sample has a valid score";
  if (const auto failed = summary.at("failed").get<std::int64_t>(); failed > 0)
    table += fmt::format("\n{} episodes failed and are in no figure", failed);
  return table + '\n';
}

}  // namespace agon::agents
