// agon train - reinforcement learning of a local policy on a suite's tasks.
#include "agents/learn/train.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agents/learn/config_reader.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "critic/reward_model/reward_model.h"
#include "critic/self_play/game_source.h"

namespace agon::cli {
namespace {

struct TrainFlags {
  std::string config;
  std::vector<std::string> changes;
  bool resume = false, print = false;
};

// Rewards of queries mean what their similarity can tell: say which one it is.
void say_similarity(const agents::TrainConfig& config) {
  for (const agents::TrainSource& source : config.sources) {
    if (!source.expert_turn) continue;
    std::cerr << "train: queries are compared by " << source.expert_turn->similarity->name();
    if (config.resolved["similarity"].get<std::string>().empty())
      std::cerr << ", which knows no synonyms. script/minilm fetches a sentence encoder: --set similarity=.deps/minilm";
    std::cerr << '\n';
    return;
  }
}

void run_training(const TrainFlags& flags) {
  agents::TrainConfig config = agents::load_train_config(flags.config, flags.changes);
  if (flags.print) {
    print_text(agents::to_yaml(config.resolved));
    return;
  }
  if (config.policy == kDefaultModel) config.policy = find_model_folder("");
  say_similarity(config);
  watch_interrupts();
  const auto resume = flags.resume ? agents::Resume::yes : agents::Resume::no;
  const auto scorer =
      config.reward_model.empty() ? nullptr : critic::open_response_scorer(config.reward_model, config.threads);
  if (!agents::train(config, resume, interrupted(), critic::make_game_source, scorer.get()))
    throw Interrupted("train: stopped after a checkpoint. Go on with the same command and --resume.");
  std::cout << "model: " << (config.output / "model").string() << '\n';
  if (std::filesystem::exists(config.output / "best"))
    std::cout << "best:  " << (config.output / "best").string() << '\n';
  std::cout << "run:   " << config.output.string() << std::endl;
}

}  // namespace

void add_train(CLI::App& app) {
  auto flags = std::make_shared<TrainFlags>();
  CLI::App* command = app.add_subcommand("train", "Train a policy by roll-outs: GRPO, ADPO, AdaPO, PDCR, ...");
  command->add_option("config", flags->config, "YAML file; every key has a default (docs/train.md)");
  command->add_option("--set", flags->changes, "KEY=VALUE in place of the file's, as optimizer.learning_rate=1e-5")
      ->allow_extra_args(false);
  command->add_flag("--resume", flags->resume, "go on from the last checkpoint in 'output'");
  command->add_flag("--print-config", flags->print, "print every key with its value, and end");
  command->callback([flags] { run_training(*flags); });
}

}  // namespace agon::cli
