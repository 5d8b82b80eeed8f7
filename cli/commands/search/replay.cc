// agon replay - shows the tree of a searched task, rebuilt from the run alone. With a policy and a critic, it asks them
// again and shows where they first differ.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agents/engine/local_policy.h"
#include "cli/commands/commands.h"
#include "cli/flags/critic_flags.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/play_flags.h"
#include "cli/flags/usage.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/provenance.h"
#include "cli/search_config.h"
#include "cli/tables/search_tree.h"
#include "cli/task_name.h"
#include "core/error.h"
#include "core/provenance.h"
#include "record/journal_entry.h"
#include "record/run_reader.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

struct ReplayFlags {
  std::string run, task_name, policy, file, search;
  std::uint64_t task = 0;  // number of the task in task_name
  CriticFlags critic;
  bool critic_given = false;        // a flag sets the critic or its instructions
  bool critic_place_given = false;  // a flag sets its folder or address
  bool json = false;
};

// Without critic flags the run's own critic.
CriticFlags critic_of(const ReplayFlags& flags, const Json& config, const agents::PolicySource& policy) {
  CriticFlags given = flags.critic;
  given.seed = config.at("seed").get<std::uint64_t>();
  return flags.critic_given ? given : critic_flags_in(config.at("critic"), given, &policy);
}

critic::Replay replay_of(const ReplayFlags& flags, const record::RunReader& run, const critic::SearchOptions& options) {
  if (flags.policy.empty()) return critic::replay(options, run, flags.task);
  agents::PolicySource source = find_policy(flags.policy);
  const auto policy = agents::open_policy(source);
  OpenCritic open;
  if (needs_critic(options.method)) open = open_critic(critic_of(flags, run.config(), source), policy.get(), &source);
  return critic::replay(options, run, flags.task, policy.get(), open.critic.get());
}

void note_given(const CLI::App& command, ReplayFlags& flags) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_group() != kCriticFlags) continue;
    const bool place = option->check_lname("critic-policy") || option->check_lname("critic-url");
    (place ? flags.critic_place_given : flags.critic_given) = true;
  }
}

// Refuses flags that have no effect for this run.
void require_flags_used(const CLI::App& command, const ReplayFlags& flags, const Json& config,
                        const critic::MethodOptions& method) {
  require_used(command, {{"--search", config.contains("search"), "here: the run searched nowhere"},
                         {"--file", config.contains("file"), "here: the run played no task file"}});
  if (!needs_critic(method) && (flags.critic_given || flags.critic_place_given))
    throw Error("replay: the run's method, {}, asks no critic. Leave the critic's flags out.",
                to_string(method.method));
  CriticFlags asked = flags.critic;
  if (!flags.critic_given && config.contains("critic")) asked.critic = critic_in(config.at("critic"));
  if (needs_critic(method)) require_used(command, asked, "critic-");
}

Json provenance_of(const ReplayFlags& flags, const Json& config) {
  Json about{{"run", run_record(flags.run)}, {"made_by", config.value(kProvenance, Json::object())}};
  if (!flags.policy.empty()) about["policy"] = policy_record(find_policy(flags.policy));
  return about;
}

void run_replay(const CLI::App& command, ReplayFlags flags) {
  if (flags.policy.empty() && (flags.critic_given || flags.critic_place_given))
    throw WrongUsage(
        "replay: the critic is asked again together with a policy. Give --policy, or leave the critic's flags out.");
  const auto run = record::RunReader::open(flags.run);
  flags.task = find_task(*run, flags.task_name, "replay");
  const critic::SearchOptions options = search_options_in(run->config(), {flags.file, flags.search});
  require_flags_used(command, flags, run->config(), options.method);
  const critic::Replay replay = replay_of(flags, *run, options);
  const std::vector<record::JournalEntry> journal = run->journal(flags.task);
  if (flags.json)
    print_measured(search_tree_json(replay, journal), provenance_of(flags, run->config()));
  else
    print_text(search_tree_text(replay, journal));
}

}  // namespace

void add_replay(CLI::App& app) {
  auto flags = std::make_shared<ReplayFlags>();
  CLI::App* command = app.add_subcommand("replay", "Show how a task was searched: its tree, from the run alone");
  command->add_option("RUN", flags->run, "Run folder of agon search")->required();
  command->add_option("TASK", flags->task_name, "Task of the run, by number or id")->required();
  command
      ->add_option("--policy", flags->policy,
                   "Model folder or server to ask again, to show where it first acts differently")
      ->type_name("<path>")
      ->group(kPolicyFlags);
  add_critic_options(*command, flags->critic, "critic-");
  command->get_option("--critic")->default_str("the run's own");
  command->add_option("--file", flags->file, "Task file of the run, if it has moved")
      ->type_name("<path>")
      ->group(kDataFlags);
  command->add_option("--search", flags->search, "Index file or server of the run, if it has moved (suite questions)")
      ->type_name("<where>")
      ->group(kDataFlags);
  command->add_flag("--json", flags->json, "Print one JSON object")->group(kOutputFlags);
  command->callback([flags, command] {
    note_given(*command, *flags);
    run_replay(*command, *flags);
  });
}

}  // namespace agon::cli
