// agon train-rm - trains a reward model, or a judge, on preferences.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/flags/training_flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/printed_json.h"
#include "cli/tables/ranking_table.h"
#include "critic/reward_model/judge_training.h"
#include "critic/reward_model/training.h"

namespace agon::cli {
namespace {

void run_train_rm(const CLI::App& command, const TrainingFlags& flags) {
  const critic::RewardTrainingConfig config = critic::load_reward_training(flags.config, changes_of("train-rm", flags));
  if (print_config(command, flags, config.source, critic::kRewardTrainingPaths)) return;
  require_resume_fits("train-rm", flags, config.output);
  watch_interrupts();
  const bool judge = config.judge != critic::JudgeForm::none;
  const Json notes =
      judge ? critic::train_judge(config, interrupted()) : critic::train_reward_model(config, interrupted());
  if (notes.is_null()) throw Interrupted("train-rm: stopped after a checkpoint. Rerun the same command with --resume.");
  if (flags.json) {
    Json printed = printed_notes(notes);
    printed["model"] = config.output.string();
    print_json(printed);
    return;
  }
  if (!judge && !notes.at("held_out").is_null())
    std::cout << ranking_table({{{"data", "held-out sets"}, {"model", "reward model"}, {"figures", notes["held_out"]}}})
              << "\n";
  std::cout << (judge ? "judge: " : "reward model: ") << config.output.string() << std::endl;
}

}  // namespace

void add_train_rm(CLI::App& app) {
  auto flags = std::make_shared<TrainingFlags>();
  CLI::App* command = app.add_subcommand("train-rm", "Train a reward model, or a judge, on preferences");
  add_training_options(*command, *flags, "docs/reward_model.md", "loss=plackett-luce");
  command->callback([flags, command] { run_train_rm(*command, *flags); });
}

}  // namespace agon::cli
