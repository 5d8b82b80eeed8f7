// agon credit - shows the credit that a method of learning assigns to a group of roll-outs.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

#include "agents/hub/tokenizer/tokenizer.h"
#include "agents/learn/credit/unused_settings.h"
#include "agents/learn/data/trajectory.h"
#include "agents/learn/loop/decomposition.h"
#include "agents/model_fingerprint.h"
#include "cli/commands/commands.h"
#include "cli/credit_group.h"
#include "cli/flags/assignments.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/parse_whole.h"
#include "cli/flags/usage.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/printed_json.h"
#include "cli/provenance.h"
#include "cli/task_name.h"
#include "core/error.h"
#include "core/provenance.h"
#include "core/text.h"
#include "env/suite.h"
#include "record/episode_store.h"
#include "record/run_kind.h"
#include "record/run_reader.h"

namespace agon::cli {
namespace {

struct CreditFlags {
  std::string method, where = "-", policy, steps;
  std::vector<std::string> settings, rewards;
  std::optional<std::string> task;
  bool list = false, json = false;
};

// standard: the weights if none are given.
std::map<std::string, double> reward_weights(const std::vector<std::string>& assignments,
                                             const std::map<std::string, double>& standard) {
  require_keys_once(assignments, "credit: --reward");
  std::map<std::string, double> weights;
  for (const std::string& assignment : assignments) {
    const auto [key, value] = split_assignment(assignment, "credit: --reward");
    const std::optional<double> weight = parse_whole<double>(value);
    if (!weight) throw WrongUsage("credit: --reward: '{}' is not a weight for '{}'; give a number.", value, key);
    weights[key] = *weight;
  }
  return weights.empty() ? standard : weights;
}

agents::CreditGroup group_of_input(const CreditFlags& flags) {
  if (flags.task)
    throw Error("credit: TASK selects from a run folder, and {} is a file. Leave TASK out.",
                flags.where == "-" ? "standard input" : flags.where);
  if (flags.where != "-") return parse_credit_group(read_file(flags.where), flags.where);
  if (::isatty(STDIN_FILENO))
    throw WrongUsage(
        "credit: the group is missing. Give a file of one (agon credit {0} group.json), standard input, or a run and a "
        "task of it (agon credit {0} runs/charts 17).",
        flags.method);
  return parse_credit_group({std::istreambuf_iterator<char>(std::cin), {}}, "standard input");
}

// The samples of a task at temperature, in order.
std::vector<record::Episode> recorded_group(const record::RunReader& reader, const std::string& run,
                                            std::uint64_t task) {
  std::vector<record::Episode> episodes;  // from the last step, if a training run played the task in several
  reader.for_each(
      [&](const record::Episode& episode) {
        const bool counts = episode.status == record::EpisodeStatus::done && episode.sample != record::kGreedySample;
        if (episode.task_index != task || !counts) return;
        if (!episodes.empty() && episodes.back().train_step < episode.train_step) episodes.clear();
        if (episodes.empty() || episodes.back().train_step == episode.train_step) episodes.push_back(episode);
      },
      record::RunReader::Detail::whole);
  if (episodes.empty())
    throw Error("credit: {}: task {} has no finished sample. `agon show {}` lists the tasks.", run, task, run);
  return episodes;
}

// The run's own settings: the rewards of a training run, and its credit settings if the method is the same.
std::map<std::string, double> rewards_of(const Json& config) {
  if (!config.contains("rewards")) return {{"accuracy", 1}};
  return config["rewards"].get<std::map<std::string, double>>();
}
Json settings_for(const Json& config, const std::string& method, const std::vector<std::string>& changes) {
  Json settings = config.value("method", "") == method ? config["credit"] : Json::object();
  settings.update(settings_of(changes, "credit: --set"));
  return settings;
}

// The system message of a task's episodes; a training run has one for each of its sources.
std::string instructions_of(const Json& config, const std::string& task_id) {
  if (record::run_kind_of(config) != record::RunKind::training) return config.value("instructions", "");
  for (const Json& source : config["sources"]) {
    const env::SuiteOptions options{.level = source["level"], .two_turn = source["two_turn"], .role = source["role"]};
    if (task_id.starts_with(source["suite"].get<std::string>() + "/"))
      return env::Suite(source["suite"], options).info().instructions;
  }
  return {};
}

Json segments_json(const agents::CreditRollout& rollout) {
  Json segments = Json::array();
  for (const agents::CreditSegment& segment : rollout.segments)
    segments.push_back({env::to_string(segment.kind), segment.tokens, segment.turn});
  return segments;
}

Json explain(const std::string& method, const Json& settings, const agents::CreditGroup& group) {
  const auto assigner = agents::make_credit(method, settings);
  return credit_json(*assigner, agents::credit_settings(method, settings), assigner->assign(group));
}

// The rule of the training that recorded the run, else the default of training runs.
env::StepRule step_rule(const CreditFlags& flags, const Json& config) {
  if (!flags.steps.empty()) return of_flags([&] { return env::parse_step_rule(flags.steps); });
  return env::parse_step_rule(config.value("probes", Json::object()).value("steps", "sentence"));
}

// A training run has no such hash: its policy changed at every step.
void require_player(const CreditFlags& flags, const Json& config, const std::filesystem::path& folder) {
  const std::string played = config.value("policy_files", ""), given = agents::model_fingerprint(folder);
  if (!played.empty() && played != given)
    throw Error(
        "credit: {} was played by {}, with files of the hash {}; those of {} have {}. Method {} asks the model that "
        "played: give its folder with --policy.",
        flags.where, config.value("policy", "a model"), played, folder.string(), given, flags.method);
}

// Methods of confidence ask the model that wrote the roll-outs.
agents::CreditGroup probed(const CreditFlags& flags, const std::vector<record::Episode>& episodes, const Json& config,
                           bool visual, const std::map<std::string, double>& rewards) {
  const agents::ModelFolder folder = agents::open_model_folder(find_model_folder(flags.policy));
  require_player(flags, config, folder.path);
  const Json probes = config.value("probes", Json::object());
  agents::ProbeSettings settings;
  settings.suffix = probes.value("suffix", settings.suffix);
  settings.change = agents::parse_picture_change(probes.value("picture", "white"));
  settings.visual = visual;
  const auto group = agents::make_train_group(episodes, instructions_of(config, episodes.front().task_id), folder,
                                              step_rule(flags, config));
  return agents::probed_group(folder, group, settings, rewards);
}

agents::CreditGroup group_of_run(const CreditFlags& flags, const std::vector<record::Episode>& episodes,
                                 const Json& config, const agents::CreditAssigner& assigner) {
  const std::map<std::string, double> weights = reward_weights(flags.rewards, rewards_of(config));
  if (assigner.needs_confidence()) return probed(flags, episodes, config, assigner.needs_visual(), weights);
  const std::string tokens_file = (find_model_folder(flags.policy) / "tokenizer.json").string();
  const auto tokenizer = agents::Tokenizer::parse(read_file(tokens_file), tokens_file);
  const env::StepRule rule = step_rule(flags, config);
  agents::CreditGroup group;
  for (const record::Episode& episode : episodes)
    group.push_back(agents::credit_rollout(episode, *tokenizer, weights, rule));
  return group;
}

// The credit, and what the run recorded about each roll-out.
Json explain_run(const CreditFlags& flags) {
  if (!flags.task)
    throw WrongUsage(
        "credit: TASK is missing: which task of {}? Give its number or id; `agon show {}` lists the tasks.",
        flags.where, flags.where);
  const auto reader = record::RunReader::open(flags.where);
  const std::vector<record::Episode> episodes =
      recorded_group(*reader, flags.where, find_task(*reader, *flags.task, "credit"));
  const Json config = reader->config(), settings = settings_for(config, flags.method, flags.settings);
  const agents::CreditGroup group = group_of_run(flags, episodes, config, *agents::make_credit(flags.method, settings));
  Json json = explain(flags.method, settings, group);
  for (std::size_t i = 0; i < group.size(); ++i) {
    Json rollout{{"sample", episodes[i].sample},
                 {"answer_reward", group[i].answer_reward},
                 {"correct", group[i].correct},
                 {"score", group[i].score ? Json(*group[i].score) : Json()},
                 {"segments", segments_json(group[i])}};
    rollout.update(json["rollouts"][i]);
    json["rollouts"][i] = std::move(rollout);
  }
  return json;
}

Json list_json() {
  Json list = Json::array();
  for (const std::string& method : agents::credit_methods()) {
    const auto assigner = agents::make_credit(method);
    list.push_back({{"name", method},
                    {"description", agents::credit_description(method)},
                    {"settings", agents::credit_settings(method)},
                    {"clip", {assigner->clip().low, assigner->clip().high}},
                    {"imitates", assigner->imitates()}});
  }
  return list;
}

void print_list() {
  for (const Json& method : list_json()) {
    fmt::print("{:<15} {}\n{:<15}", method["name"].get<std::string>(), method["description"].get<std::string>(), "");
    for (const auto& [name, value] : method["settings"].items())
      fmt::print(" {}={}", name, value.is_string() ? value.get<std::string>() : value.dump());
    fmt::print("\n");
  }
}

bool is_run(const CreditFlags& flags) { return std::filesystem::is_directory(flags.where); }

void require_flags_used(const CLI::App& command, const CreditFlags& flags) {
  for (const char* flag : {"METHOD", "WHERE", "TASK", "--set", "--steps", "--policy", "--reward"})
    require_used(command, {{flag, !flags.list, "with --list"}});
  for (const char* flag : {"--steps", "--policy", "--reward"})
    require_used(command, {{flag, is_run(flags), "for a group that is given as JSON", "give a run and a task of it"}});
  if (command.count("--steps") == 0) return;
  const auto method =
      of_flags([&] { return agents::make_credit(flags.method, agents::credit_settings(flags.method)); });
  const bool by_steps = method->needs_confidence();
  require_used(command, {{"--steps", by_steps, "with method " + flags.method + ", which credits no steps"}});
}

// Reported before the command waits for a group.
void check_settings(const std::string& method, const Json& given) {
  const Json settings = of_flags([&] { return agents::credit_settings(method, given); });
  for (const agents::UnusedSetting& unused : agents::unused_settings(method, settings))
    if (given.contains(unused.name))
      throw WrongUsage("credit: --set {} does nothing {}. Leave it out.", unused.name, unused.why);
}

// The inputs, for provenance.
Json read_from(const CreditFlags& flags) {
  if (is_run(flags))
    return {{"run", run_record(flags.where)}, {"policy", model_record(find_model_folder(flags.policy))}};
  return {{"group", flags.where == "-" ? Json("standard input") : file_record(flags.where)}};
}

void credit(const CreditFlags& flags) {
  if (flags.list && flags.json) return print_text(readable(list_json()));
  if (flags.list) return print_list();
  if (flags.method.empty()) throw WrongUsage("credit: METHOD is missing. `agon credit --list` shows the methods.");
  const Json settings = settings_of(flags.settings, "credit: --set");
  check_settings(flags.method, settings);
  if (flags.where != "-" && !std::filesystem::exists(flags.where))
    throw Error("credit: {} is neither a run folder nor a file. Give the folder of a run, or a file with a group.",
                flags.where);
  const Json credit = is_run(flags) ? explain_run(flags) : explain(flags.method, settings, group_of_input(flags));
  if (!flags.json) return print_text(credit_text(credit));
  Json printed = printed_credit(credit);
  printed[kProvenance] = provenance(read_from(flags));
  print_text(with_json_escapes(readable(printed)));
}

}  // namespace

void add_credit(CLI::App& app) {
  auto flags = std::make_shared<CreditFlags>();
  CLI::App* command = app.add_subcommand("credit", "Show what a method of learning credits to each token");
  command->add_option("METHOD", flags->method, "Method of learning; --list prints them all");
  command
      ->add_option("WHERE", flags->where, "Run folder, JSON file of a group (docs/credit.md), or - for standard input")
      ->capture_default_str();
  command->add_option("TASK", flags->task, "Task of the run, by number or id; its samples are the group");
  command->add_option("--set", flags->settings, "Setting of the method")
      ->type_name("<key=value>")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--steps", flags->steps,
          "Separator of the steps of the run: blank_line, newline or sentence (default: that of the training run, else "
          "sentence)")
      ->type_name("<name>");
  command
      ->add_option("--policy", flags->policy,
                   std::string("Model folder that played the run (default: ") + kDefaultModel + ")")
      ->type_name("<path>");
  command
      ->add_option("--reward", flags->rewards,
                   "Weight of a reward component (default: that of the training run, else accuracy=1)")
      ->type_name("<key=value>")
      ->allow_extra_args(false);
  command->add_flag("--list", flags->list, "List the methods and their settings");
  command->add_flag("--json", flags->json, "Print one JSON object with a number per token (--list: an array)");
  command->callback([flags, command] {
    require_flags_used(*command, *flags);
    credit(*flags);
  });
}

}  // namespace agon::cli
