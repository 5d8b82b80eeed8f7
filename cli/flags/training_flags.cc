#include "cli/flags/training_flags.h"
#include "cli/flags/usage.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "agents/config_reader.h"
#include "agents/learn/loop/checkpoint_folder.h"
#include "cli/flags/assignments.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/parse_whole.h"
#include "cli/output.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

// The value at a dotted key, or null.
const Json* find_place(const Json& root, const std::string& dotted) {
  const Json* at = &root;
  for (const std::string& part : split(dotted, ".")) {
    const auto index = at->is_array() ? parse_whole<std::size_t>(part) : std::nullopt;
    if (index && *index < at->size())
      at = &(*at)[*index];
    else if (at->is_object() && at->contains(part))
      at = &at->at(part);
    else
      return nullptr;
  }
  return at;
}

// Refuses changes to one key at two depths, as credit.kl and credit: the later one would silently win.
void require_places_once(const std::vector<std::string>& changes, const std::string& flag) {
  Json given = Json::object();
  for (const std::string& change : changes) {
    const std::string key = split_assignment(change, flag).first;
    if (find_place(given, key))
      throw WrongUsage("{}: {} is given twice: another --set sets it, or a key in it, too. Give it once.", flag, key);
    agents::set_value(given, change);
  }
}

// Whether the folder holds a checkpoint, a log, or a finished model.
bool holds_training(const fs::path& output) {
  if (!agents::find_checkpoint(output).empty()) return true;
  std::error_code ignored;
  for (const char* file : {"train.jsonl", "reward_model.json", "judge.json"})
    if (fs::exists(output / file, ignored)) return true;
  return false;
}

}  // namespace

CLI::Option* add_training_options(CLI::App& command, TrainingFlags& flags, const std::string& page,
                                  const std::string& example) {
  CLI::Option* config =
      command.add_option("CONFIG", flags.config, fmt::format("YAML file of settings; {} has its keys", page))
          ->required();
  command
      .add_option(
          "--set", flags.changes,
          fmt::format("Value that overrides the file's, as in {}; paths in it are relative to the working folder",
                      example))
      ->type_name("<key=value>")
      ->allow_extra_args(false);
  command.add_flag("--resume", flags.resume, "Resume the training run in 'output'");
  command.add_flag("--print-config", flags.print, "Print the config with all changes, and exit");
  command.add_flag("--json", flags.json, "Print one JSON object");
  return config;
}

const std::vector<std::string>& changes_of(const std::string& command, const TrainingFlags& flags) {
  require_keys_once(flags.changes, command + ": --set");
  require_places_once(flags.changes, command + ": --set");
  return flags.changes;
}

bool print_config(const CLI::App& command, const TrainingFlags& flags, Json config, agents::PathKeys keys) {
  for (const char* flag : {"--resume", "--json"})
    require_used(command, {{flag, !flags.print, "with --print-config, which trains nothing"}});
  agents::change_paths(config, keys,
                       [&](const std::string& path) { return agents::from_working_folder(flags.config, path); });
  if (flags.print) print_text(agents::to_yaml(config));
  return flags.print;
}

void require_resume_fits(const std::string& command, const TrainingFlags& flags, const fs::path& output) {
  if (output.empty()) return;  // reported when the config is read
  agents::require_of_command(output, command);
  const bool there = holds_training(output);
  if (there && !flags.resume)
    throw Error("{}: {} holds a training run already. Resume it with --resume, or choose another 'output'.", command,
                output.string());
  if (!there && flags.resume)
    std::fputs(fmt::format("{}: nothing to resume in {}; starting anew there\n", command, output.string()).c_str(),
               stderr);
}

}  // namespace agon::cli
