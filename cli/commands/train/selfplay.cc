// agon selfplay - plays rounds of games between a sneaky generator and a critic, and trains both on them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agents/learn/loop/checkpoint_folder.h"
#include "cli/commands/commands.h"
#include "cli/flags/training_flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/printed_json.h"
#include "cli/provenance.h"
#include "core/provenance.h"
#include "critic/self_play/rounds.h"
#include "record/run_reader.h"

namespace agon::cli {
namespace {

void run(const CLI::App& command, const TrainingFlags& flags) {
  const critic::SelfPlayConfig config = critic::load_self_play_config(flags.config, changes_of("selfplay", flags));
  if (print_config(command, flags, config.source, critic::kSelfPlayPaths)) return;
  agents::require_of_command(config.output, "selfplay");
  watch_interrupts();
  if (!critic::self_play(config, flags.resume, interrupted()))
    throw Interrupted("selfplay: stopped. Rerun the same command with --resume.");
  const Json summary = record::RunReader::open(config.output)->summary();
  if (flags.json) {
    Json printed = printed_self_play(summary);
    printed["run"] = config.output.string();
    print_measured(std::move(printed),
                   record::RunReader::open(config.output)->config().value(kProvenance, Json::object()));
  } else {
    print_text(fmt::format("{}\nself-play: {}\n", critic::self_play_table(summary), config.output.string()));
  }
}

}  // namespace

void add_selfplay(CLI::App& app) {
  auto flags = std::make_shared<TrainingFlags>();
  CLI::App* command = app.add_subcommand("selfplay", "Train a sneaky generator and a critic by games between them");
  add_training_options(*command, *flags, "docs/critic.md", "learning.kl=0");
  command->callback([flags, command] { run(*command, *flags); });
}

}  // namespace agon::cli
