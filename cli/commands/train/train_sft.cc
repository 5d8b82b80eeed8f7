// agon train-sft - supervised training of a local model on the suites' experts.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agents/config_reader.h"
#include "agents/learn/loop/sft.h"
#include "cli/commands/commands.h"
#include "cli/flags/training_flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/provenance.h"
#include "core/file.h"
#include "core/provenance.h"

namespace agon::cli {

void add_train_sft(CLI::App& app) {
  auto flags = std::make_shared<TrainingFlags>();
  CLI::App* command = app.add_subcommand("train-sft", "Train a model by imitation of the suites' experts");
  add_training_options(*command, *flags, "docs/train.md", "steps=200");
  command->callback([flags, command] {
    const agents::SftConfig config = agents::load_sft_config(flags->config, changes_of("train-sft", *flags));
    if (print_config(*command, *flags, config.source, agents::kSftPaths)) return;
    require_resume_fits("train-sft", *flags, config.output);
    watch_interrupts();
    if (!agents::train_sft(config, interrupted()))
      throw Interrupted("train-sft: stopped after a checkpoint. Rerun the same command with --resume.");
    Json about{{"model", model_record(config.output)}};
    if (!config.start.empty()) about["policy"] = model_record(config.start);
    // Not a JSON file: those are in the model's fingerprint, which identifies the model and not its maker.
    const Json notes{{"config", config.source}, {kProvenance, provenance(about)}};
    write_file_atomically((config.output / "training.yaml").string(), agents::to_yaml(notes));
    if (flags->json)
      print_measured({{"model", config.output.string()}, {"steps", config.steps}}, about);
    else
      std::cout << "model: " << config.output.string() << std::endl;
  });
}

}  // namespace agon::cli
