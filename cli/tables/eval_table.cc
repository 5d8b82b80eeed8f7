#include "cli/tables/eval_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

#include "cli/printed_json.h"
#include "core/estimate.h"

namespace agon::cli {
namespace {

constexpr int kColumn = 17;

struct FigureColumn {
  std::string label;
  std::function<Estimate(const agents::RunFigures&)> figure;
};

std::vector<FigureColumn> one_turn_columns(int samples) {
  using agents::RunFigures;
  std::vector<FigureColumn> columns{{"greedy", &RunFigures::greedy}, {"pass@1", &RunFigures::pass_at_1}};
  const auto add_last = [&](const char* label, agents::BySize RunFigures::*by_size) {
    columns.push_back({fmt::format("{}@{}", label, samples), [samples, by_size](const RunFigures& figures) {
                         const auto last = (figures.*by_size).find(samples);
                         return last == (figures.*by_size).end() ? Estimate() : last->second;
                       }});
  };
  if (samples > 1) {
    add_last("pass", &RunFigures::pass_at_k);
    add_last("best", &RunFigures::best_of_n);
    add_last("majority", &RunFigures::majority);
  }
  columns.push_back({"score AUC", &RunFigures::score_auc});
  columns.push_back({"score AP", &RunFigures::score_ap});
  return columns;
}

std::vector<FigureColumn> two_turn_columns(agents::TwoTurnFigures agents::RunFigures::TwoTurns::*turns) {
  std::vector<FigureColumn> columns;
  for (const agents::TwoTurnColumn& column : agents::kTwoTurnColumns)
    columns.push_back({column.label, [turns, figure = column.figure](const agents::RunFigures& figures) {
                         return figures.two_turn ? *figures.two_turn.*turns.*figure : Estimate();
                       }});
  return columns;
}

std::string interval_of(const Estimate& estimate) { return estimate.defined() ? interval_text(estimate.interval) : ""; }

std::string difference_text(const Estimate& estimate) {
  return estimate.defined() ? fmt::format("{:+.3f}", estimate.value) : "-";
}

std::string tasks_text(const Estimate& estimate) {
  return estimate.defined() ? fmt::format("over {} task{}", estimate.tasks, estimate.tasks == 1 ? "" : "s") : "";
}

template <typename Cell>
std::string line(std::size_t width, const std::string& label, const std::vector<FigureColumn>& columns,
                 const Cell& cell) {
  std::string text = fmt::format("{:<{}}", label, width);
  for (const FigureColumn& column : columns) text += fmt::format("{:>{}}", cell(column), kColumn);
  return text + '\n';
}

std::string block(const std::string& title, std::span<const EvalRow> rows, const std::vector<FigureColumn>& columns) {
  const std::string against = "minus " + rows.front().policy;
  std::size_t width = rows.size() > 1 ? std::max({title.size(), against.size(), std::size_t{18}}) : title.size();
  for (const EvalRow& row : rows) width = std::max(width, row.policy.size());
  std::string text = line(width, title, columns, [](const FigureColumn& column) { return column.label; });
  for (const EvalRow& row : rows) {
    const agents::RunFigures& own = row.summary.figures;
    text += line(width, row.policy, columns,
                 [&](const FigureColumn& column) { return figure_text(column.figure(own).value); });
    text += line(width, "", columns, [&](const FigureColumn& column) { return interval_of(column.figure(own)); });
    if (!row.difference) continue;
    const agents::RunFigures& more = row.difference->figures;
    text +=
        line(width, against, columns, [&](const FigureColumn& column) { return difference_text(column.figure(more)); });
    text += line(width, tasks_text(more.pass_at_1), columns,
                 [&](const FigureColumn& column) { return interval_of(column.figure(more)); });
  }
  return text;
}

std::string suite_table(std::span<const EvalRow> rows) {
  using agents::RunFigures;
  const agents::RunSummary& first = rows.front().summary;
  const bool two_turn = first.figures.two_turn.has_value();
  std::string text =
      fmt::format("{}, level {}, {} split: {} tasks x {} samples{}\n\n", rows.front().suite, first.level.value_or(0),
                  first.split.value_or(""), first.tasks, first.samples, two_turn ? ", answered twice" : "");
  if (!two_turn) return text + block("", rows, one_turn_columns(first.samples));
  return text + block("samples", rows, two_turn_columns(&RunFigures::TwoTurns::samples)) + '\n' +
         block("greedy", rows, two_turn_columns(&RunFigures::TwoTurns::greedy));
}

}  // namespace

Json eval_json(const std::vector<EvalRow>& rows) {
  Json list = Json::array();
  for (const EvalRow& row : rows)
    list.push_back({{"suite", row.suite},
                    {"policy", row.policy},
                    {"run", row.run},
                    {"summary", printed_figures(to_json(row.summary))},
                    {"difference", row.difference ? printed_difference(to_json(*row.difference)) : Json()}});
  return {{"rows", std::move(list)}};
}

std::string eval_table(const std::vector<EvalRow>& rows) {
  std::string text;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::find_if(begin, rows.end(), [&](const EvalRow& row) { return row.suite != begin->suite; });
    text += suite_table({begin, end}) + '\n';
    begin = end;
  }
  return text +
         "In brackets: 95 % intervals over tasks, of shares by Wilson, of differences paired by task (Newcombe), of "
         "AUC and AP by bootstrap.\n";
}

}  // namespace agon::cli
