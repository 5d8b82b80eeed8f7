#include "cli/report/search.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "cli/report/episodes.h"
#include "cli/search_config.h"
#include "cli/tables/search_tree.h"
#include "core/error.h"
#include "core/estimate.h"
#include "critic/search/summary.h"
#include "record/journal_entry.h"
#include "record/run_kind.h"

namespace agon::cli {
namespace {

// A point of the equal-compute plot.
Json method_json(const std::string& title, const critic::SearchSummary& summary, bool own) {
  const auto tasks = static_cast<double>(std::max<std::size_t>(summary.accuracy.tasks, 1));
  const double policy = static_cast<double>(summary.spent.policy_tokens) / tasks;
  const double critic = static_cast<double>(summary.spent.critic_tokens) / tasks;
  return {{"name", title},
          {"method", summary.settings.at("method")},
          {"policy_tokens", policy},
          {"tokens", policy + critic},
          {"accuracy", number_or_null(summary.accuracy.value)},
          {"interval", interval_json(summary.accuracy.interval)},
          {"own", own}};
}

Json no_steps() {
  return {{"right_kept", 0}, {"wrong_kept", 0}, {"right_rejected", 0}, {"wrong_rejected", 0}, {"unknown", 0}};
}

class SearchTrees {
 public:
  // Throws Error if the trees of the run cannot be rebuilt: another version, no task file.
  SearchTrees(const record::RunReader& run, const MovedInputs& moved, ReportEpisodes& shown, JudgedSteps& judged)
      : run_(run), options_(search_options_in(run.config(), moved)), shown_(shown), judged_(judged) {}

  // in_page: its tree is drawn.
  void add(std::uint64_t task, bool in_page) {
    const critic::Replay replay = critic::replay(options_, run_, task);
    const std::vector<record::JournalEntry> journal = run_.journal(task);
    Json nodes = search_nodes_json(replay, journal);
    for (std::size_t i = 0; i < replay.nodes.size(); ++i) count(replay.nodes[i], replay.labels[i], nodes[i]);
    if (!in_page) return;
    for (std::size_t i = 0; i < replay.nodes.size(); ++i) nodes[i]["parts"] = parts_behind(replay.nodes[i]);
    trees_[std::to_string(task)] = std::move(nodes);
  }

  Json trees() { return std::move(trees_); }
  const Json& steps() const { return steps_; }

 private:
  void count(const critic::Node& node, const std::optional<env::StepLabel>& label, const Json& json) {
    if (!node.verdict || node.twin) return;
    if (!label) {
      add_one("unknown");
      return;
    }
    const bool rejected = json.at("verdict") == "incorrect";
    add_one(label->correct ? (rejected ? "right_rejected" : "right_kept")
                           : (rejected ? "wrong_rejected" : "wrong_kept"));
    if (!node.verdict->probability) return;
    judged_.probabilities.push_back(*node.verdict->probability);
    judged_.labels.push_back(label->correct);
  }

  void add_one(const char* key) { steps_[key] = steps_.value(key, 0) + 1; }

  Json parts_behind(const critic::Node& node) {
    if (!node.end || node.end->over()) return Json::array();
    return shown_.shown(node.end->result.observation.parts);
  }

  const record::RunReader& run_;
  const critic::SearchOptions options_;
  ReportEpisodes& shown_;
  JudgedSteps& judged_;
  Json trees_ = Json::object();
  Json steps_ = no_steps();
};

// The trees in `data`, and the reason why some or all of them are missing.
class TreesOrWhy {
 public:
  TreesOrWhy(const record::RunReader& run, const MovedInputs& moved, ReportEpisodes& shown, JudgedSteps& judged) {
    attempt([&] { trees_.emplace(run, moved, shown, judged); });
  }
  void add(const record::Episode& episode, bool in_page) {
    if (trees_ && episode.status == record::EpisodeStatus::done)
      attempt([&] { trees_->add(episode.task_index, in_page); });
  }
  void move_into(Json& search) {
    search["trees"] = trees_ ? trees_->trees() : Json::object();
    search["steps"] = trees_ ? trees_->steps() : no_steps();
    search["trees_missing"] = why_;
  }

 private:
  void attempt(const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      if (why_.empty()) why_ = error.what();
    }
  }

  std::optional<SearchTrees> trees_;
  std::string why_;  // reason for the first missing tree
};

void require_same_tasks(const Json& config, const OtherRun& other) {
  const Json theirs = other.run->config();
  if (record::run_kind_of(theirs) != record::RunKind::search)
    throw Error("report: {} is not a search. Compare runs of `agon search`.", other.title);
  for (const char* key : {"suite", "level", "split", "tasks", "seed"})
    if (config.value(key, Json()) != theirs.value(key, Json()))
      throw Error("report: {} has other tasks: its {} is {}, this run's {}. Compare searches of the same tasks.",
                  other.title, key, theirs.value(key, Json()).dump(), config.value(key, Json()).dump());
}

}  // namespace

void add_search(const record::RunReader& run, const std::string& title, const ReportLimits& limits,
                const std::vector<OtherRun>& others, const MovedInputs& moved, Json& data, JudgedSteps& judged) {
  const critic::SearchSummary summary = critic::summarize_searches(run);
  Json search{{"summary", to_json(summary)}, {"methods", Json::array()}};
  search["methods"].push_back(method_json(title, summary, true));
  for (const OtherRun& other : others) {
    require_same_tasks(run.config(), other);
    search["methods"].push_back(method_json(other.title, critic::summarize_searches(*other.run), false));
  }
  ReportEpisodes shown;
  TreesOrWhy trees(run, moved, shown, judged);
  std::size_t total = 0;
  run.for_each(
      [&](const record::Episode& episode) {
        ++total;
        const bool in_page = shown.tasks() < limits.tasks && shown.bytes() < limits.bytes;
        if (in_page) shown.add(episode);
        trees.add(episode, in_page);
      },
      record::RunReader::Detail::whole);
  trees.move_into(search);
  data["search"] = std::move(search);
  data["episodes_total"] = total;
  data["embedded_tasks"] = shown.tasks();
  data["embedded_samples"] = 1;
  shown.move_into(data);
}

}  // namespace agon::cli
