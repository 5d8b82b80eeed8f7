// agon train-rm - a reward model from preferences.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/play.h"
#include "cli/ranking_table.h"
#include "critic/reward_model/judge_training.h"
#include "critic/reward_model/training.h"

namespace agon::cli {
namespace {

struct Flags {
  std::string config;
  std::vector<std::string> changes;
  bool json = false;
};

void run(const Flags& flags) {
  const critic::RewardTrainingConfig config = critic::load_reward_training(flags.config, flags.changes);
  watch_interrupts();
  const bool judge = config.judge != critic::JudgeForm::none;
  const Json notes =
      judge ? critic::train_judge(config, interrupted()) : critic::train_reward_model(config, interrupted());
  if (notes.is_null()) throw Interrupted("train-rm: stopped after a checkpoint. The same command goes on.");
  if (flags.json) {
    print_json(notes);
    return;
  }
  if (!judge && !notes.at("held_out").is_null())
    std::cout << ranking_table({{{"data", "held-out sets"}, {"model", "reward model"}, {"figures", notes["held_out"]}}})
              << "\n";
  std::cout << (judge ? "judge: " : "reward model: ") << config.output.string() << std::endl;
}

}  // namespace

void add_train_rm(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("train-rm", "Train a reward model, or a judge, on preferences; resumes by itself");
  command->add_option("CONFIG", flags->config, "YAML file; docs/reward_model.md has its keys")->required();
  command->add_option("--set", flags->changes, "KEY=VALUE in place of the file's, as loss=plackett-luce")
      ->allow_extra_args(false);
  command->add_flag("--json", flags->json, "print how it was made as one JSON object")->group(kOutputFlags);
  command->callback([flags] { run(*flags); });
}

}  // namespace agon::cli
