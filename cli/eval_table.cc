#include "cli/eval_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "agents/run_summary.h"

namespace agon::cli {
namespace {

constexpr int kColumn = 17;

// A figure by its place in the summary, and by its name among the intervals and differences.
struct Column {
  std::string label, place, name;
};

std::vector<Column> one_turn_columns(const Json& summary) {
  const int samples = summary.at("samples").get<int>();
  std::vector<Column> columns{{"greedy", "/greedy", "greedy"}, {"pass@1", "/pass_at_1", "pass_at_1"}};
  const auto add = [&](const char* label, const char* key, const char* name) {
    columns.push_back({fmt::format("{}@{}", label, samples), fmt::format("/{}/{}", key, samples),
                       fmt::format("{}{}", name, samples)});
  };
  if (samples > 1) {
    add("pass", "pass_at_k", "pass_at_");
    add("best", "best_of_n", "best_of_");
    add("majority", "majority", "majority_");
  }
  columns.push_back({"score AUC", "/score/auc", "score_auc"});
  columns.push_back({"score AP", "/score/ap", "score_ap"});
  return columns;
}

std::vector<Column> two_turn_columns(const std::string& prefix) {
  std::vector<Column> columns;
  for (const agents::TwoTurnFigure& figure : agents::kTwoTurnFigures)
    columns.push_back({figure.label, "/two_turn/" + prefix + figure.name, prefix + figure.name});
  return columns;
}

std::string number(const Json& value, const char* form = "{:.3f}") {
  return value.is_number() ? fmt::format(fmt::runtime(form), value.get<double>()) : "-";
}

// The interval of a figure of a summary or a difference.
std::string interval(const Json& figures, const std::string& name) {
  const Json& all = figures.at("ci");
  return all.contains(name) ? fmt::format("[{}, {}]", number(all.at(name).at(0)), number(all.at(name).at(1))) : "";
}

template <typename Cell>
std::string line(std::size_t width, const std::string& label, const std::vector<Column>& columns, const Cell& cell) {
  std::string text = fmt::format("{:<{}}", label, width);
  for (const Column& column : columns) text += fmt::format("{:>{}}", cell(column), kColumn);
  return text + '\n';
}

std::string block(const std::string& title, std::span<const EvalRow> rows, const std::vector<Column>& columns) {
  const std::string against = "minus " + rows.front().policy;
  const auto tasks_of = [](const EvalRow& row) {
    const Json tasks = row.difference.value("n", Json::object()).value("pass_at_1", Json());
    if (!tasks.is_number()) return std::string();
    return fmt::format("over {} task{}", tasks.get<std::int64_t>(), tasks == 1 ? "" : "s");
  };
  std::size_t width = rows.size() > 1 ? std::max({title.size(), against.size(), std::size_t{18}}) : title.size();
  for (const EvalRow& row : rows) width = std::max(width, row.policy.size());
  std::string text = line(width, title, columns, [](const Column& column) { return column.label; });
  for (const EvalRow& row : rows) {
    text += line(width, row.policy, columns,
                 [&](const Column& column) { return number(row.summary.at(Json::json_pointer(column.place))); });
    text += line(width, "", columns, [&](const Column& column) { return interval(row.summary, column.name); });
    if (row.difference.is_null()) continue;
    text += line(width, against, columns,
                 [&](const Column& column) { return number(row.difference.value(column.name, Json()), "{:+.3f}"); });
    text += line(width, tasks_of(row), columns,
                 [&](const Column& column) { return interval(row.difference, column.name); });
  }
  return text;
}

std::string suite_table(std::span<const EvalRow> rows) {
  const Json& first = rows.front().summary;
  const int samples = first.at("samples").get<int>();
  const bool two_turn = first.contains("two_turn");
  std::string text = fmt::format("{}, level {}, {} split: {} tasks x {} samples{}\n\n", rows.front().suite,
                                 first.at("level").dump(), first.at("split").get<std::string>(),
                                 first.at("tasks").get<int>(), samples, two_turn ? ", answered twice" : "");
  if (!two_turn) return text + block("", rows, one_turn_columns(first));
  return text + block("samples", rows, two_turn_columns("")) + '\n' +
         block("greedy", rows, two_turn_columns(agents::kGreedyTurns));
}

}  // namespace

Json eval_json(const std::vector<EvalRow>& rows) {
  Json list = Json::array();
  for (const EvalRow& row : rows)
    list.push_back({{"suite", row.suite},
                    {"policy", row.policy},
                    {"run", row.run},
                    {"summary", row.summary},
                    {"difference", row.difference}});
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
         "AUC "
         "and AP by bootstrap.\n";
}

}  // namespace agon::cli
