// agon train - reinforcement learning of a local policy on a suite's tasks.
#include "agents/learn/loop/train.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/flags/training_flags.h"
#include "cli/interrupt.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/printed_json.h"
#include "cli/provenance.h"
#include "core/provenance.h"
#include "critic/reward_model/reward_model.h"
#include "critic/self_play/game_source.h"
#include "record/run_reader.h"

namespace agon::cli {
namespace {

// Rewards of queries depend on the similarity used, so the command names it.
void say_similarity(const agents::TrainConfig& config) {
  for (const agents::TrainSource& source : config.sources) {
    if (!source.expert_turn) continue;
    std::cerr << "train: queries are compared by " << source.expert_turn->similarity->name();
    if (config.resolved["similarity"].get<std::string>().empty())
      std::cerr << ", which knows no synonyms. script/checkpoint minilm fetches a sentence encoder: --set "
                   "similarity=.deps/minilm";
    std::cerr << '\n';
    return;
  }
}

void run_training(const CLI::App& command, const TrainingFlags& flags) {
  agents::TrainConfig config = agents::load_train_config(flags.config, changes_of("train", flags));
  if (print_config(command, flags, config.resolved, {})) return;
  if (config.policy == kDefaultModel) config.policy = find_model_folder("");
  say_similarity(config);
  watch_interrupts();
  const auto resume = flags.resume ? agents::Resume::yes : agents::Resume::no;
  const auto scorer =
      config.reward_model.empty() ? nullptr : critic::open_response_scorer(config.reward_model, config.threads);
  if (!agents::train(config, resume, interrupted(), critic::make_game_source, scorer.get()))
    throw Interrupted("train: stopped after a checkpoint. Rerun the same command with --resume.");
  if (flags.json) {
    const auto run = record::RunReader::open(config.output);
    const Json summaries = run->summary();
    Json evaluation = Json::object();
    for (const auto& [source, summary] : summaries.items()) evaluation[source] = printed_figures(summary);
    print_measured({{"run", config.output.string()}, {"evaluation", std::move(evaluation)}},
                   run->config().value(kProvenance, Json::object()));
    return;
  }
  std::cout << "model: " << (config.output / "model").string() << '\n';
  if (std::filesystem::exists(config.output / "best"))
    std::cout << "best:  " << (config.output / "best").string() << '\n';
  std::cout << "run:   " << config.output.string() << std::endl;
}

}  // namespace

void add_train(CLI::App& app) {
  auto flags = std::make_shared<TrainingFlags>();
  CLI::App* command = app.add_subcommand("train", "Train a policy by roll-outs: GRPO, AdaPO, PDCR and others");
  add_training_options(*command, *flags, "docs/train.md", "optimizer.learning_rate=1e-5")->required(false);
  command->callback([flags, command] { run_training(*command, *flags); });
}

}  // namespace agon::cli
