#include "agents/run_summary_table.h"

#include <fmt/format.h>

#include <cmath>

namespace agon::agents {
namespace {

// One figure, with its number of tasks.
std::string value_and_interval(const Estimate& figure) {
  const std::string value = fmt::format("{:>7}", figure_text(figure.value));
  if (!figure.defined()) return value;
  return value + fmt::format("   {:<16} {:>6}", interval_text(figure.interval), figure.tasks);
}

std::string metric_line(const std::string& label, const Estimate& figure) {
  return fmt::format("{:<16}{}\n", label, value_and_interval(figure));
}

std::string size_line(const std::string& label, const BySize& figures) {
  std::string line = fmt::format("{:<16}", label);
  for (const auto& [size, figure] : figures) line += fmt::format("{:>7}", figure_text(figure.value));
  return line + '\n';
}

std::string types_line(const std::string& label, const TurnTypes& types) {
  std::string line = fmt::format("{:<16}", label);
  for (std::size_t type = 0; type < types.size(); ++type)
    line += fmt::format("  {}: {}", kTurnTypes[type], types[type]);
  return line + '\n';
}

// Samples and greedy answers side by side.
std::string two_turn_lines(const RunFigures::TwoTurns& figures) {
  std::string lines = fmt::format("\n{:<16}{:>7}   {:<16} {:>6}{:>10}   {:<16} {:>6}\n", "two turns", "samples",
                                  "95 % interval", "tasks", "greedy", "95 % interval", "tasks");
  for (const TwoTurnColumn& column : kTwoTurnColumns)
    lines += fmt::format("{:<16}{:<36}{}\n", column.label, value_and_interval(figures.samples.*column.figure),
                         value_and_interval(figures.greedy.*column.figure));
  return lines;
}

std::string verified_lines(const VerifiedFigures& verified) {
  std::string lines = size_line("verified", verified.best);
  if (!verified.majority.empty()) lines += size_line("verified vote", verified.majority);
  if (!verified.not_fitting.empty())
    lines += fmt::format("verified leaves out N = {}: that many samples exceed the verifier's context\n",
                         fmt::join(verified.not_fitting, ", "));
  return lines;
}

std::string heading(const RunSummary& summary) {
  return fmt::format("{}, level {}, {} split: {} tasks x {} samples\n\n", summary.suite.value_or("-"),
                     summary.level ? std::to_string(*summary.level) : "-", summary.split.value_or("-"), summary.tasks,
                     summary.samples);
}

}  // namespace

std::string summary_table(const RunSummary& summary) {
  const RunFigures& figures = summary.figures;
  std::string table =
      heading(summary) + fmt::format("{:<16}{:>7}   {:<16} {:>6}\n", "", "value", "95 % interval", "tasks");
  table += metric_line("greedy", figures.greedy);
  table += metric_line("pass@1", figures.pass_at_1);
  if (figures.step_success) table += metric_line("step success", *figures.step_success);
  table += metric_line("mean reward", figures.mean_reward);
  const bool scored = summary.valid_scores > 0;
  if (scored) {
    table += metric_line("score AUC", figures.score_auc);
    table += metric_line("score AP", figures.score_ap);
  }
  table += fmt::format("\n{:<16}", "N samples");
  for (const auto& [size, figure] : figures.pass_at_k) table += fmt::format("{:>7}", size);
  table += '\n';
  table += size_line("pass@N", figures.pass_at_k);
  if (scored) table += size_line("best-of-N", figures.best_of_n);
  table += size_line("majority", figures.majority);
  if (summary.verified) table += verified_lines(*summary.verified);
  if (figures.two_turn)
    table += two_turn_lines(*figures.two_turn) + types_line("types, samples", summary.types) +
             types_line("types, greedy", summary.greedy_types);
  table += fmt::format("\n{} tokens", summary.tokens);
  if (std::isfinite(summary.seconds) && summary.seconds > 0)
    table += fmt::format(" in {:.1f} s ({:.0f} a second)", summary.seconds,
                         static_cast<double>(summary.tokens) / summary.seconds);
  if (summary.usd)
    table += fmt::format("\n{:.4f} US dollars, {:.6f} a task", *summary.usd,
                         *summary.usd / static_cast<double>(summary.tasks));
  if (summary.missing_scores > 0)
    table += scored ? fmt::format("\n{} samples have no valid score", summary.missing_scores)
                    : "\nno sample has a valid score";
  if (summary.failed > 0)
    table += fmt::format("\n{} episodes failed and are excluded from all figures", summary.failed);
  return table + '\n';
}

}  // namespace agon::agents
