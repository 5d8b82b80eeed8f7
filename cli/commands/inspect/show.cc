#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/provenance.h"
#include "cli/tables/transcript.h"
#include "cli/task_name.h"
#include "core/error.h"
#include "core/provenance.h"
#include "record/run_reader.h"

namespace agon::cli {
namespace {

struct ShowFlags {
  std::string run, episode;
  bool json = false;
};

record::Episode read_named(const record::RunReader& run, const EpisodeName& name) {
  if (name.sample) return run.episode(name.task, *name.sample);
  try {
    return run.episode(name.task, record::kGreedySample);
  } catch (const Error&) {
    return run.episode(name.task, 0);
  }
}

void show(const ShowFlags& flags) {
  const auto run = record::RunReader::open(flags.run);
  if (flags.episode.empty() && !flags.json) return print_text(run_text(*run));
  if (flags.episode.empty()) return print_measured(run_json(*run), {{"run", run_record(flags.run)}});
  const record::Episode episode = read_named(*run, find_episode(*run, flags.episode));
  const std::string instructions = run->config().value("instructions", "");
  if (!flags.json)
    return print_text(fmt::format("system message: {}\n\n", printable(instructions)) + episode_text(episode));
  Json json = episode_json(episode);
  json["instructions"] = instructions;
  print_measured(std::move(json),
                 {{"run", run_record(flags.run)}, {"made_by", run->config().value(kProvenance, Json::object())}});
}

}  // namespace

void add_show(CLI::App& app) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = app.add_subcommand("show", "Show a run's figures and tasks, or one of its episodes");
  command->add_option("RUN", flags->run, "Run folder")->required();
  command->add_option("EPISODE", flags->episode,
                      "Episode to show: TASK, TASK:SAMPLE or TASK:greedy, where TASK is a number or an id of the list "
                      "(default: the list)");
  command->add_flag("--json", flags->json, "Print one JSON object");
  command->callback([flags] { show(*flags); });
}

}  // namespace agon::cli
