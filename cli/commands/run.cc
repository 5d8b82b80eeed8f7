// agon run - plays a suite's tasks with a policy and records every episode.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agents/engine/local_policy.h"
#include "agents/run_summary_table.h"
#include "cli/commands/commands.h"
#include "cli/interrupt.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/play.h"
#include "cli/provenance.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/provenance.h"
#include "critic/reward_model/verifier.h"
#include "record/run_reader.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

struct RunFlags {
  PlayFlags play;
  std::string suite = "charts", policy, verifier, out;
  bool resume = false, json = false;
};

// Best-of-n by a reward model, among the figures of the run.
bool verify(critic::RewardModel& model, const fs::path& folder, const record::RunReader& run,
            agents::RunSummary& summary) {
  Progress progress("run: verifier", static_cast<std::int64_t>(summary.tasks), "tasks");
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
    throw Error(
        "run: --verifier compares whole responses, and an episode of {} has up to {} turns here. Take a suite of one "
        "turn, or leave --verifier out.",
        options.suite.name(), turns);
}

void run(const RunFlags& flags) {
  const fs::path policy_folder = find_model_folder(flags.policy);
  const agents::RolloutOptions options = rollout_options(flags.play, flags.suite);
  if (!flags.verifier.empty()) require_one_turn(options);
  Json config = run_config(options, policy_folder);
  if (!flags.verifier.empty()) config[kProvenance]["verifier"] = model_record(flags.verifier);
  const auto policy = agents::make_local_policy(policy_folder);  // first: a model that does not load leaves no folder
  const auto verifier = flags.verifier.empty() ? nullptr : critic::open_reward_model(flags.verifier);
  const RunPlace place = run_place("run", flags.suite, flags.out, flags.resume);
  const auto add_verified = [&](const record::RunReader& run, agents::RunSummary& summary) {
    if (verifier) return verify(*verifier, flags.verifier, run, summary);
    summary.verified = agents::verified_in(run.summary());  // of a run that is finished already
    return true;
  };
  const PlayedRun played = play_into(place, *policy, options, config, "run " + flags.suite, add_verified);
  if (flags.json)
    print_measured(to_json(played.summary), config[kProvenance]);
  else
    print_text(fmt::format("{}\nrun: {}\n", agents::summary_table(played.summary), place.folder.string()));
  require_none_failed(played, place, "run");
}

}  // namespace

void add_run(CLI::App& app) {
  auto flags = std::make_shared<RunFlags>();
  flags->play.command = "run";
  CLI::App* command = app.add_subcommand("run", "Play a suite's tasks with a policy; record, grade, report");
  command->add_option("--suite", flags->suite, "suite: see 'agon suites'")->capture_default_str()->group(kDataFlags);
  command->add_option("--policy", flags->policy, "model folder (default: models/agon-tiny)")->group(kPolicyFlags);
  add_play_options(*command, flags->play);
  command->add_option("--verifier", flags->verifier, "folder of a reward model, which takes the best of the samples")
      ->group(kPolicyFlags);
  command->add_option("--out", flags->out, "run folder (default: runs/<suite>-<time>)")->group(kOutputFlags);
  command->add_flag("--resume", flags->resume, "go on with the run in --out")->group(kOutputFlags);
  command->add_flag("--json", flags->json, "print the summary as one JSON object")->group(kOutputFlags);
  command->callback([flags, command] {
    settle_samples(*command, flags->play);
    run(*flags);
  });
}

}  // namespace agon::cli
