// agon train-sft - supervised training of a local model on the suites' experts.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agents/learn/sft.h"
#include "cli/commands.h"
#include "cli/interrupt.h"

namespace agon::cli {

void add_train_sft(CLI::App& app) {
  auto config = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("train-sft", "Train a local model on the suites' experts; resumes by itself");
  command->add_option("config", *config, "YAML file, as models/agon-tiny.yaml")->required();
  command->callback([config] {
    const agents::SftConfig loaded = agents::load_sft_config(*config);
    watch_interrupts();
    if (!agents::train_sft(loaded, interrupted()))
      throw Interrupted("train-sft: stopped after a checkpoint. The same command goes on.");
    std::cout << "model: " << loaded.output.string() << std::endl;
  });
}

}  // namespace agon::cli
