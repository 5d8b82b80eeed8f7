#include "cli/report/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agents/config_reader.h"
#include "agents/run_summary.h"
#include "cli/report/episodes.h"
#include "cli/report/preferences.h"
#include "cli/report/search.h"
#include "cli/report/self_play.h"
#include "cli/report/training.h"
#include "cli/search_config.h"
#include "core/error.h"
#include "core/estimate.h"
#include "core/json_parse.h"
#include "core/provenance.h"
#include "core/statistics.h"
#include "core/text.h"
#include "record/run_kind.h"

namespace agon::cli {
namespace {

using agents::EpisodeOutcome;
using record::Episode;
using record::RunKind;

namespace fs = std::filesystem;

constexpr std::size_t kCurvePoints = 200;

Json groups_json(const std::vector<agents::GroupAccuracy>& groups) {
  Json all = Json::array();
  for (const agents::GroupAccuracy& group : groups)
    all.push_back({{"name", group.name},
                   {"tasks", group.tasks},
                   {"greedy", number_or_null(group.greedy)},
                   {"pass_at_1", number_or_null(group.pass_at_1.value)},
                   {"interval", interval_json(group.pass_at_1.interval)}});
  return all;
}

void add_curves(const std::vector<double>& scores, const std::vector<int>& labels, Json& data) {
  data["roc"] = Json::array();
  const std::vector<CurvePoint> curve = roc_curve(scores, labels);
  const std::size_t stride = curve.size() / kCurvePoints + 1;
  for (std::size_t i = 0; i < curve.size(); ++i)
    if (i % stride == 0 || i + 1 == curve.size()) data["roc"].push_back({curve[i].x, curve[i].y});
  const std::vector<ReliabilityBin> bins = reliability(scores, labels);
  data["reliability"] = Json::array();
  for (const ReliabilityBin& bin : bins)
    data["reliability"].push_back({{"low", bin.low},
                                   {"high", bin.high},
                                   {"count", bin.count},
                                   {"mean_score", bin.mean_score},
                                   {"accuracy", bin.accuracy}});
  data["ece"] = expected_calibration_error(bins);
}

void add_score_curves(const std::vector<EpisodeOutcome>& outcomes, Json& data) {
  std::vector<double> scores;
  std::vector<int> labels;
  for (const EpisodeOutcome& outcome : outcomes) {
    if (outcome.failed || outcome.sample == record::kGreedySample || !outcome.score) continue;
    scores.push_back(*outcome.score);
    labels.push_back(outcome.success);
  }
  add_curves(scores, labels, data);
}

// The figures of a run's episodes, and the first of them.
void add_run(const record::RunReader& run, const ReportLimits& limits, Json& data) {
  std::vector<EpisodeOutcome> outcomes;
  ReportEpisodes shown;
  run.for_each(
      [&](const Episode& episode) {
        outcomes.push_back(agents::outcome_of(episode));
        const bool room = shown.tasks() < limits.tasks && shown.bytes() < limits.bytes;
        if (episode.sample < limits.samples && (room || shown.has_task(episode))) shown.add(episode);
      },
      record::RunReader::Detail::whole);
  const auto seed = data["config"].value("seed", std::uint64_t{0});
  agents::RunSummary summary = agents::summarize(data["config"], outcomes, run.seconds());
  summary.verified = agents::verified_in(run.summary());
  data["summary"] = to_json(summary);
  data["levels"] = groups_json(
      agents::accuracy_by(outcomes, seed, [](const EpisodeOutcome& one) { return fmt::format("{}", one.level); }));
  data["kinds"] = groups_json(agents::accuracy_by(outcomes, seed, [](const EpisodeOutcome& one) { return one.kind; }));
  add_score_curves(outcomes, data);
  data["episodes_total"] = outcomes.size();
  data["embedded_tasks"] = shown.tasks();
  data["embedded_samples"] = limits.samples;
  shown.move_into(data);
}

Json training_json(const std::map<std::string, record::Curve>& metrics, double seconds) {
  std::int64_t last_step = 0;
  for (const auto& [name, curve] : metrics) last_step = std::max(last_step, curve.back().first);
  return {{"last_step", last_step}, {"seconds", seconds}, {"curves", curves_json(metrics)}};
}

// The curves of a training run, and episodes from all of its steps.
void add_training(const record::RunReader& run, const ReportLimits& limits, Json& data) {
  data["training"] = training_json(run.metrics(), run.seconds());
  std::size_t total = 0;
  run.for_each([&](const Episode&) { ++total; }, record::RunReader::Detail::without_turns);
  ReportEpisodes shown;
  for (const auto& [task, sample] : chosen_episodes(run, limits.train_steps, limits.train_groups)) {
    const Episode episode = run.episode(task, sample);
    if (shown.bytes() < limits.bytes || shown.has_task(episode)) shown.add(episode);
  }
  data["episodes_total"] = total;
  shown.move_into(data);
}

}  // namespace

Json report_data(const record::RunReader& run, const std::string& title, const ReportLimits& limits,
                 const std::vector<OtherRun>& others, const MovedInputs& moved) {
  Json data{
      {"title", title}, {"config", run.config()}, {"complete", !run.summary().is_null()}, {kProvenance, provenance()}};
  switch (record::run_kind_of(data["config"])) {
    case RunKind::search: {
      JudgedSteps judged;
      add_search(run, title, limits, others, moved, data, judged);
      add_curves(judged.probabilities, judged.labels, data);
      break;
    }
    case RunKind::self_play:
      add_self_play(run, limits, data);
      break;
    case RunKind::preferences:
      add_preferences(run, limits, data);
      break;
    case RunKind::training:
      if (run.metrics().empty())
        add_run(run, limits, data);  // no step is finished
      else
        add_training(run, limits, data);
      break;
    case RunKind::episodes:
    case RunKind::training_log:
      add_run(run, limits, data);
      break;
  }
  return data;
}

Json training_log_data(const fs::path& folder, const std::string& title) {
  std::map<std::string, record::Curve> metrics = logged_metrics(folder / record::kTrainingLog);
  if (metrics.empty()) throw Error("report: {} has no figures yet.", (folder / record::kTrainingLog).string());
  metrics.erase("seconds");  // since the process began, not for the whole training
  const Json training = training_json(metrics, 0);
  Json made_by;  // from the finished training
  if (fs::exists(folder / "training.yaml"))
    made_by = agents::read_yaml(folder / "training.yaml").value(kProvenance, Json());
  else if (fs::exists(folder / "reward_model.json"))
    made_by = json_or_discarded(read_file((folder / "reward_model.json").string()));
  if (made_by.is_object() && made_by.contains("notes")) made_by = made_by["notes"];
  if (made_by.is_object() && made_by.contains(kProvenance)) made_by = made_by[kProvenance];
  const bool complete = fs::exists(folder / "model.safetensors") || fs::exists(folder / "reward_model.json");
  return {
      {"title", title},           {"config", Json::object()},  {"complete", complete},    {"log", record::kTrainingLog},
      {"training", training},     {"episodes_total", 0},       {"tasks", Json::object()}, {"episodes", Json::array()},
      {"images", Json::object()}, {kProvenance, provenance()}, {"made_by", made_by}};
}

}  // namespace agon::cli
