#include "cli/tables/critic_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "cli/tables/transcript.h"
#include "core/estimate.h"
#include "core/statistics.h"
#include "core/text.h"

namespace agon::cli {
namespace {

using critic::CriticFigures;
using critic::JudgedStep;

struct Column {
  const char *key, *label;
  double CriticFigures::*value;
  bool with_interval;
};
constexpr Column kColumns[] = {{"correct", "correct", &CriticFigures::correct, true},
                               {"error", "error", &CriticFigures::error, true},
                               {"average", "average", &CriticFigures::average, true},
                               {"harmonic_mean", "harmean", &CriticFigures::harmonic_mean, true},
                               {"accuracy", "accuracy", &CriticFigures::accuracy, true},
                               {"strict_harmonic_mean", "strict", &CriticFigures::strict_harmonic_mean, false},
                               {"strict_accuracy", "strict a", &CriticFigures::strict_accuracy, false},
                               {"auc", "AUC", &CriticFigures::auc, true},
                               {"average_precision", "AP", &CriticFigures::average_precision, false},
                               {"brier", "Brier", &CriticFigures::brier, false},
                               {"ece", "ECE", &CriticFigures::calibration_error, false},
                               {"adaptive_ece", "ECE ad.", &CriticFigures::adaptive_calibration_error, false}};

Json json_of(const CriticFigures& figures) {
  Json json{{"steps", figures.steps},
            {"right_steps", figures.right_steps},
            {"invalid_verdicts", figures.invalid},
            {"unknown_verdicts", figures.unknown}};
  for (const Column& column : kColumns) json[column.key] = number_or_null(figures.*column.value);
  json["reliability"] = Json::array();
  for (const ReliabilityBin& bin : figures.reliability)
    json["reliability"].push_back({number_or_null(bin.mean_score), number_or_null(bin.accuracy), bin.count});
  return json;
}

Json json_of(const critic::FirstErrorFigures& first) {
  return {{"with_error", first.with_error},
          {"without_error", first.without_error},
          {"invalid", first.invalid},
          {"error", number_or_null(first.error)},
          {"correct", number_or_null(first.correct)},
          {"f1", number_or_null(first.f1)}};
}

Json parts_of(const std::vector<JudgedStep>& steps) {
  const auto by = [&](auto&& key) {
    Json parts = Json::object();
    for (const auto& [name, figures] : critic::critic_figures_by(steps, key))
      parts[std::string(trim(name))] = json_of(figures);
    return parts;
  };
  return {{"by_source", by([](const JudgedStep& step) { return step.source; })},
          {"by_kind", by([](const JudgedStep& step) { return step.kind; })},
          {"by_level", by([](const JudgedStep& step) { return std::to_string(step.level); })},
          {"by_position", by([](const JudgedStep& step) { return fmt::format("{:3}", step.position); })}};
}

// The text on one line, without terminal control characters.
std::string shown(const std::string& text) {
  std::string line = printable(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

std::string figure_cell(const Json& value) {
  return value.is_number() ? fmt::format("{:.3f}", value.get<double>()) : "-";
}

std::string line_of(const std::string& name, const Json& figures) {
  std::string line = fmt::format("  {:<22} {:>7} {:>7}", shown(name).substr(0, 22), figures["steps"].dump(),
                                 figures["invalid_verdicts"].dump());
  for (const Column& column : kColumns) line += fmt::format(" {:>8}", figure_cell(figures[column.key]));
  line += '\n';
  return line;
}

std::string first_error_line(const Json& first) {
  return fmt::format(" first error: found in {} of {} solutions with one, none claimed in {} of {} without; F1 {}\n",
                     figure_cell(first["error"]), first["with_error"].dump(), figure_cell(first["correct"]),
                     first["without_error"].dump(), figure_cell(first["f1"]));
}

std::string block_of(const Json& row) {
  const Json& figures = row["figures"];
  std::string text =
      fmt::format("{}, {}\n  {:<22} {:>7} {:>7}", shown(row["data"]), shown(row["critic"]), "", "steps", "invalid");
  for (const Column& column : kColumns) text += fmt::format(" {:>8}", column.label);
  text += '\n';
  text += line_of("all", figures);
  std::string intervals;
  for (const Column& column : kColumns)
    if (const Json ci = figures["ci"].value(column.key, Json()); ci.is_array() && ci[0].is_number())
      intervals += fmt::format("{} {} [{}, {}]", intervals.empty() ? "" : ",", column.label, figure_cell(ci[0]),
                               figure_cell(ci[1]));
  if (!intervals.empty())
    text += fmt::format("  95 % intervals over {} problems:{}\n", figures["problems"].dump(), intervals);
  for (const char* part : {"source", "kind", "level", "position"}) {
    const Json& parts = row.at(fmt::format("by_{}", part));
    if (parts.size() < 2) continue;
    text += fmt::format(" by {}\n", part);
    for (const auto& [name, one] : parts.items()) text += line_of(name, one);
  }
  if (row.contains("regret"))
    text += fmt::format(" regret: {} of the choices between steps lose a right one\n", figure_cell(row["regret"]));
  if (row.contains("first_error")) text += first_error_line(row["first_error"]);
  if (const Json& unknown = figures["unknown_verdicts"]; unknown != 0)
    text += fmt::format(" {} steps that the critic could not judge\n", unknown.dump());
  if (!row["first_fault"].is_null())
    text += fmt::format(" {} invalid verdicts; the first: {}\n", figures["invalid_verdicts"].dump(),
                        shown(row["first_fault"]));
  return text;
}

// The mean over the rows that have the value.
Json mean_at(const Json::json_pointer& place, const Json& rows) {
  std::vector<double> values;
  for (const Json& row : rows)
    if (const Json value = row.value(place, Json()); value.is_number()) values.push_back(value.get<double>());
  return number_or_null(mean(values));
}

}  // namespace

Json critic_json(const std::string& data, const std::string& critic, const std::vector<JudgedStep>& steps,
                 std::uint64_t seed) {
  const CriticFigures own = critic::critic_figures(steps);
  Json figures = json_of(own);
  std::vector<const char*> names;
  std::vector<double CriticFigures::*> values;
  for (const Column& column : kColumns)
    if (column.with_interval) {
      names.push_back(column.key);
      values.push_back(column.value);
    }
  std::set<std::size_t> problems;
  for (const JudgedStep& step : steps) problems.insert(step.problem);
  figures["problems"] = problems.size();
  const std::vector<Interval> intervals = critic::intervals_by_problem(steps, values, seed);
  figures["ci"] = Json::object();
  figures["n"] = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i)
    add_interval(figures, names[i], {own.*values[i], intervals[i], problems.size()});
  Json json{{"data", data}, {"critic", critic}, {"figures", std::move(figures)}};
  json.update(parts_of(steps));
  const auto invalid = std::find_if(
      steps.begin(), steps.end(), [](const JudgedStep& step) { return step.judgement == critic::Judgement::invalid; });
  json["first_fault"] = invalid == steps.end() ? Json() : Json(invalid->fault);
  std::vector<JudgedStep> in_solutions;
  std::ranges::copy_if(steps, std::back_inserter(in_solutions), [](const JudgedStep& step) { return !step.alone; });
  if (critic::has_candidates(steps))
    json["regret"] = number_or_null(critic::regret(steps));
  else if (!in_solutions.empty())
    json["first_error"] = json_of(critic::first_error_figures(critic::first_errors(in_solutions)));
  return json;
}

Json critic_report(Json rows) {
  Json means;
  if (rows.size() > 1) {
    for (const Column& column : kColumns)
      means[column.key] = mean_at(Json::json_pointer("/figures/" + std::string(column.key)), rows);
    means["f1"] = mean_at(Json::json_pointer("/first_error/f1"), rows);
  }
  return {{"rows", std::move(rows)}, {"mean", std::move(means)}};
}

std::string critic_table(const Json& report) {
  std::string text;
  for (const Json& row : report["rows"]) {
    if (!text.empty()) text += '\n';
    text += block_of(row);
  }
  if (!report["mean"].is_null()) {
    text += fmt::format("\n  {:<38}", fmt::format("mean of the {}", report["rows"].size()));
    for (const Column& column : kColumns) text += fmt::format(" {:>8}", figure_cell(report["mean"][column.key]));
    text += '\n';
    if (report["mean"]["f1"].is_number())
      text += fmt::format("  mean F1 of the first error: {}\n", figure_cell(report["mean"]["f1"]));
  }
  return text +
         "\ncorrect, error: share of the right and of the wrong steps with a verdict that got the right one. "
         "AP: of finding wrong steps.\n";
}

}  // namespace agon::cli
