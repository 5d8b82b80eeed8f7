// agon selfplay - rounds of games between a sneaky generator and a critic, which learn from them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/play.h"
#include "critic/self_play/rounds.h"
#include "env/episode_store.h"

namespace agon::cli {
namespace {

struct Flags {
  std::string config;
  std::vector<std::string> changes;
  bool json = false;
};

void run(const Flags& flags) {
  const critic::SelfPlayConfig config = critic::load_self_play_config(flags.config, flags.changes);
  watch_interrupts();
  if (!critic::self_play(config, true, interrupted()))
    throw Interrupted("selfplay: stopped. The same command goes on where it stopped.");
  const Json summary = env::RunReader::open(config.output)->summary();
  if (flags.json)
    print_json(summary);
  else
    print_text(fmt::format("{}\nself-play: {}\n", critic::self_play_table(summary), config.output.string()));
}

}  // namespace

void add_selfplay(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("selfplay", "Rounds of games of a sneaky generator against a critic; both learn");
  command->add_option("CONFIG", flags->config, "YAML file; docs/critic.md has its keys")->required();
  command->add_option("--set", flags->changes, "KEY=VALUE in place of the file's, as learning.kl=0")
      ->allow_extra_args(false);
  command->add_flag("--json", flags->json, "print the summary as one JSON object")->group(kOutputFlags);
  command->callback([flags] { run(*flags); });
}

}  // namespace agon::cli
