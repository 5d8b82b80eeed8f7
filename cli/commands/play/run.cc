// agon run - plays a suite's tasks with a policy and records every episode.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agents/engine/local_policy.h"
#include "agents/run_summary_table.h"
#include "cli/commands/commands.h"
#include "cli/flags/cache_flag.h"
#include "cli/flags/device_flag.h"
#include "cli/flags/memory_flags.h"
#include "cli/flags/old_names.h"
#include "cli/flags/play_flags.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/play.h"
#include "cli/policy_needs.h"
#include "cli/printed_json.h"
#include "cli/provenance.h"
#include "core/progress.h"
#include "core/provenance.h"
#include "critic/reward_model/engine_reward_model.h"
#include "critic/reward_model/verifier.h"
#include "record/run_reader.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

struct RunFlags {
  PlayFlags play;
  MemoryFlags memory;
  std::string suite = "charts", policy, cache, device, budget, reward_model, out;
  bool resume = false, json = false;
};

// Best-of-n by a reward model, among the figures of the run.
bool verify(critic::RewardModel& model, const fs::path& folder, const record::RunReader& run,
            agents::RunSummary& summary) {
  Progress progress("run: reward model", static_cast<std::int64_t>(summary.tasks), "tasks");
  summary.verified = critic::verified(model, run, [&] {
    progress.add(1);
    return !interrupted();
  });
  if (!summary.verified) return false;
  summary.verified->verifier = folder.lexically_normal().string();
  return true;
}

void require_one_turn(const agents::RolloutOptions& options) {
  if (const int turns = options.suite.info().max_turns; turns > 1)
    throw WrongUsage(
        "run: --reward-model compares whole responses, and an episode of {} has up to {} turns here. Choose a suite of "
        "one turn, or leave --reward-model out.",
        options.suite.name(), turns);
}

void run(const RunFlags& flags) {
  agents::PolicySource source = find_policy(flags.policy);
  use_cache(source, flags.cache);
  use_memory(source, flags.memory);
  use_device(source, flags.device);
  require_server("run", flags.cache, {&source, 1});
  const agents::RolloutOptions options = rollout_options(flags.play, flags.suite);
  if (!flags.reward_model.empty()) require_one_turn(options);
  const std::optional<CostLimit> limit = parse_cost_limit(flags.budget, source);
  const auto policy = agents::open_policy(source);  // first, so that a model that does not load leaves no folder
  tell_memory(*policy);
  require_plays("run", policy->capabilities(), options);
  Json config = run_config(options, source);
  if (!flags.reward_model.empty()) config[kProvenance]["verifier"] = model_record(flags.reward_model);
  const auto model = flags.reward_model.empty() ? nullptr : critic::open_reward_model(flags.reward_model);
  const RunPlace place = run_place("run", flags.suite, flags.out, flags.resume);
  const auto add_verified = [&](const record::RunReader& run, agents::RunSummary& summary) {
    if (model) return verify(*model, flags.reward_model, run, summary);
    summary.verified = agents::verified_in(run.summary());  // of an already finished run
    return true;
  };
  const PlayedRun played = play_into(place, *policy, options, config, "run " + flags.suite, add_verified, limit);
  if (flags.json) {
    Json figures = printed_figures(to_json(played.summary));
    figures["run"] = place.folder.string();
    print_measured(std::move(figures), config[kProvenance]);
  } else {
    print_text(fmt::format("{}\nrun: {}\n", agents::summary_table(played.summary), place.folder.string()));
  }
  require_none_failed(played, place, "run");
}

}  // namespace

void add_run(CLI::App& app) {
  auto flags = std::make_shared<RunFlags>();
  flags->play.command = "run";
  CLI::App* command = app.add_subcommand("run", "Play a suite's tasks with a policy and record every episode");
  command->add_option("--suite", flags->suite, "Suite to play; 'agon suites' lists them")
      ->type_name("<name>")
      ->capture_default_str()
      ->group(kDataFlags);
  command->add_option("--policy", flags->policy, "Model folder or server (default: models/agon-tiny)")
      ->type_name("<path>")
      ->group(kPolicyFlags);
  add_cache_option(*command, flags->cache)->group(kPolicyFlags);
  add_memory_options(*command, flags->memory, kPolicyFlags);
  add_device_option(*command, flags->device)->group(kPolicyFlags);
  command
      ->add_option("--budget", flags->budget,
                   "Maximum cost of the run, as in usd=5; needs a policy file with a 'price'")
      ->type_name("<limits>")
      ->check(some_text())
      ->group(kPolicyFlags);
  add_play_options(*command, flags->play);
  command->add_option("--reward-model", flags->reward_model, "Reward model folder; it picks the best of the samples")
      ->type_name("<path>")
      ->group(kPolicyFlags);
  add_old_name(*command, "--verifier", "--reward-model");
  command->add_option("--out", flags->out, "Run folder to write (default: runs/<suite>-<time>)")
      ->type_name("<path>")
      ->group(kOutputFlags);
  command->add_flag("--resume", flags->resume, "Resume the run in --out")->group(kOutputFlags);
  command->add_flag("--json", flags->json, "Print the summary as one JSON object")->group(kOutputFlags);
  command->callback([flags, command] {
    settle_samples(*command, flags->play);
    run(*flags);
  });
}

}  // namespace agon::cli
