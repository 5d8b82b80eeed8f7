// cli/flags/training_flags.h - what all commands that train have in common: a config, changes to it, and going on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agents/learn/loop/config_paths.h"
#include "core/json.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
class Option;
}  // namespace CLI

namespace agon::cli {

struct TrainingFlags {
  std::string config;
  std::vector<std::string> changes;
  bool resume = false, json = false, print = false;
};
// Adds CONFIG, --set, --resume, --print-config and --json. page: that has the keys ("docs/train.md"); example: of a
// change
// ("learning_rate=1e-5"). Returns CONFIG, which is required. `flags` must outlive the parse.
CLI::Option* add_training_options(CLI::App& command, TrainingFlags& flags, const std::string& page,
                                  const std::string& example);

// The changes, each key once. Throws Error, which begins with the command, for a key that is given twice, be it at two
// depths.
const std::vector<std::string>& changes_of(const std::string& command, const TrainingFlags& flags);
// Prints the config, as YAML, where --print-config asks for it: true, and nothing is to be trained. Its paths, at
// `keys`, are relative to the file and printed as seen from the working folder. Throws Error for a flag that does
// nothing beside it.
bool print_config(const CLI::App& command, const TrainingFlags& flags, Json config, agents::PathKeys keys);

// For trainings without a store of their own: throws Error where `output` holds one of another command, or one, begun
// or ended, and --resume is not given. Without one to go on with, says on stderr that --resume begins.
void require_resume_fits(const std::string& command, const TrainingFlags& flags, const std::filesystem::path& output);

}  // namespace agon::cli
