// agon decompose - measures how well PDCR tells a policy's visual steps from its textual ones.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <set>

#include "agents/engine/local_policy.h"
#include "agents/learn/loop/decomposition.h"
#include "cli/commands/commands.h"
#include "cli/flags/assignments.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/play_flags.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/play.h"
#include "cli/provenance.h"
#include "core/error.h"
#include "core/estimate.h"
#include "core/progress.h"
#include "core/provenance.h"
#include "core/statistics.h"
#include "record/run_reader.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;
using agents::SplitStep;

const std::set<std::string> kOfSplits{"otsu", "seed", "threshold", "visual_share"};

struct DecomposeFlags {
  PlayFlags play;
  std::string suite = "charts", policy, out;
  std::vector<std::string> pictures = {"white", "blur", "noise", "rotate"}, settings;
  bool resume = false, json = false;
};

agents::DecompositionOptions options_of(const DecomposeFlags& flags) {
  agents::DecompositionOptions options;
  for (const std::string& picture : flags.pictures)
    options.pictures.push_back(of_flags([&] { return agents::parse_picture_change(picture); }));
  options.settings = settings_of(flags.settings, "decompose: --set");
  if (options.settings.contains("split"))
    throw WrongUsage("decompose: --set split: all splits are measured. Leave it out.");
  for (const auto& [name, value] : options.settings.items())
    if (agents::credit_settings("pdcr").contains(name) && !kOfSplits.contains(name))
      throw WrongUsage("decompose: --set {} does nothing: it does not split steps. Leave it out; {} do.", name,
                       fmt::join(kOfSplits, ", "));
  // Reports wrong settings before anything is played.
  of_flags([&] { return agents::make_credit("pdcr", options.settings); });
  options.seed = flags.play.seed;
  return options;
}

// The recorded roll-outs at temperature, by task.
std::vector<agents::PlayedTask> played_tasks(const fs::path& folder, const agents::RolloutOptions& played) {
  std::map<std::uint64_t, agents::PlayedTask> tasks;
  record::RunReader::open(folder)->for_each(
      [&](const record::Episode& episode) {
        if (episode.status != record::EpisodeStatus::done || episode.sample == record::kGreedySample) return;
        agents::PlayedTask& task = tasks[episode.task_index];
        task.reset = {played.split, episode.task_index, played.seed};
        task.episodes.push_back(episode);
      },
      record::RunReader::Detail::whole);
  std::vector<agents::PlayedTask> list;
  for (auto& [index, task] : tasks) list.push_back(std::move(task));
  return list;
}

// A split on a picture; an empty name: the split does not look at one.
struct Row {
  std::string split, picture;
  agents::SplitAgreement agreement;
  double auc;  // of V as a score of perception; NaN without a picture
};

std::vector<Row> rows_of(const std::vector<SplitStep>& steps, const std::vector<std::string>& pictures) {
  std::vector<Row> rows;
  const auto add = [&](const char* split, const std::string& picture, double auc, auto visual) {
    rows.push_back({split, picture, agents::agreement(steps, visual), auc});
  };
  for (std::size_t p = 0; p < pictures.size(); ++p) {
    std::vector<double> visual;
    std::vector<int> perception;
    for (const SplitStep& step : steps) {
      visual.push_back(step.visual[p]);
      perception.push_back(step.perception);
    }
    const double auc = roc_auc(visual, perception);
    add("otsu", pictures[p], auc, [p](const SplitStep& step) { return step.otsu[p]; });
    add("top_k", pictures[p], auc, [p](const SplitStep& step) { return step.top_k[p]; });
  }
  const double none = std::nan("");
  add("random", "", none, [](const SplitStep& step) { return step.random; });
  add("all textual", "", none, [](const SplitStep&) { return false; });
  add("all visual", "", none, [](const SplitStep&) { return true; });
  return rows;
}

Json json_of(const std::vector<Row>& rows, std::size_t steps, const agents::RolloutOptions& played,
             const std::string& run) {
  Json splits = Json::array();
  for (const Row& row : rows) {
    const agents::SplitAgreement& found = row.agreement;
    Json split{{"split", row.split},
               {"picture", row.picture.empty() ? Json() : Json(row.picture)},
               {"accuracy", number_or_null(found.accuracy.value)},
               {"visual_share", number_or_null(found.visual_share)},
               {"perception_found", number_or_null(found.perception_found)},
               {"reasoning_found", number_or_null(found.reasoning_found)},
               {"auc", number_or_null(row.auc)},
               {"ci", Json::object()},
               {"n", Json::object()}};
    add_interval(split, "accuracy", found.accuracy);
    splits.push_back(std::move(split));
  }
  return {{"suite", played.suite.name()},
          {"level", played.suite.options().level},
          {"tasks", played.tasks},
          {"samples", played.samples},
          {"steps", steps},
          {"perception_share", number_or_null(rows.back().agreement.accuracy.value)},
          {"run", run},
          {"splits", std::move(splits)}};
}

std::string cell(const Json& value) {
  return value.is_number()   ? fmt::format("{:.3f}", value.get<double>())
         : value.is_string() ? value.get<std::string>()
                             : "-";
}

std::string interval_cell(const Json& interval) {
  return fmt::format("[{}, {}]", cell(interval[0]), cell(interval[1]));
}

std::string table_of(const Json& json) {
  std::string text = fmt::format("{}, level {}: {} tasks x {} samples, {} labelled steps, {} of them perception\n\n",
                                 json["suite"].get<std::string>(), json["level"].dump(), json["tasks"].dump(),
                                 json["samples"].dump(), json["steps"].dump(), cell(json["perception_share"]));
  text += fmt::format("{:<12} {:<8} {:>8} {:>16} {:>8} {:>17} {:>16} {:>8}\n", "split", "picture", "agrees", "95 %",
                      "visual", "perception found", "reasoning found", "AUC");
  for (const Json& row : json["splits"])
    text +=
        fmt::format("{:<12} {:<8} {:>8} {:>16} {:>8} {:>17} {:>16} {:>8}\n", cell(row["split"]), cell(row["picture"]),
                    cell(row["accuracy"]), interval_cell(row["ci"]["accuracy"]), cell(row["visual_share"]),
                    cell(row["perception_found"]), cell(row["reasoning_found"]), cell(row["auc"]));
  return text +
         "\nagrees: visual where the suite says perception, textual where it says reasoning. AUC: of the visual "
         "dependence V.\n";
}

std::vector<SplitStep> measure(const DecomposeFlags& flags, const fs::path& policy, const RunPlace& place,
                               const agents::RolloutOptions& played, const agents::DecompositionOptions& options) {
  const agents::ModelFolder folder = agents::open_model_folder(policy);
  const auto env = played.suite.make_env();
  const std::vector<agents::PlayedTask> tasks = played_tasks(place.folder, played);
  Progress progress("decompose " + flags.suite, std::ssize(tasks), "tasks");
  const auto steps = agents::split_steps_of(folder, *env, played.suite.info().instructions, tasks, options, [&] {
    progress.add(1);
    return !interrupted();
  });
  if (interrupted())
    throw Interrupted(fmt::format("decompose: stopped. Rerun the same command with {} to resume.", place.go_on));
  if (steps.empty())
    throw Error("decompose: suite {} labels no step that {} wrote. Choose another --suite, such as charts.",
                played.suite.name(), policy.filename().string());
  return steps;
}

void decompose(const DecomposeFlags& flags) {
  const agents::DecompositionOptions options = options_of(flags);
  const fs::path policy = find_model_folder(flags.policy);
  const agents::RolloutOptions played = rollout_options(flags.play, flags.suite);
  const auto loaded = agents::make_local_policy(policy);
  const RunPlace place = run_place("decompose", flags.suite, flags.out, flags.resume);
  play_into(place, *loaded, played, run_config(played, policy), "decompose: playing");
  const std::vector<SplitStep> steps = measure(flags, policy, place, played, options);
  const Json json = json_of(rows_of(steps, flags.pictures), steps.size(), played, place.folder.string());
  if (flags.json)
    print_measured(json, run_config(played, policy).at(kProvenance));
  else
    print_text(fmt::format("{}run: {}\n", table_of(json), place.folder.string()));
}

}  // namespace

void add_decompose(CLI::App& app) {
  auto flags = std::make_shared<DecomposeFlags>();
  flags->play.command = "decompose";
  CLI::App* command = app.add_subcommand("decompose", "Measure how well PDCR tells visual steps from textual ones");
  command->add_option("--suite", flags->suite, "Suite to play; 'agon suites' lists them")
      ->type_name("<name>")
      ->capture_default_str()
      ->group(kDataFlags);
  command->add_option("--policy", flags->policy, "Model folder (default: models/agon-tiny)")
      ->type_name("<path>")
      ->group(kPolicyFlags);
  command
      ->add_option("--picture", flags->pictures,
                   "Changed picture to compare with: white, blur, noise or rotate (default: all four)")
      ->type_name("<name>")
      ->group(kDataFlags);
  command->add_option("--set", flags->settings, "Setting of pdcr, as threshold=literal or visual_share=0.5")
      ->type_name("<key=value>")
      ->group(kDataFlags);
  add_play_options(*command, flags->play);
  command->add_option("--out", flags->out, "Run folder to write (default: runs/<suite>-<time>)")
      ->type_name("<path>")
      ->group(kOutputFlags);
  command->add_flag("--resume", flags->resume, "Resume the run in --out")->group(kOutputFlags);
  command->add_flag("--json", flags->json, "Print one JSON object")->group(kOutputFlags);
  command->callback([flags, command] {
    settle_samples(*command, flags->play);
    require_each_once("decompose", "--picture", flags->pictures);
    decompose(*flags);
  });
}

}  // namespace agon::cli
