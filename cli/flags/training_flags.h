// cli/flags/training_flags.h - the flags of all commands that train: a config, changes to it, and --resume.
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
// Adds CONFIG, --set, --resume, --print-config and --json. page: documents the keys ("docs/train.md"); example: a
// change ("learning_rate=1e-5"). Returns CONFIG, which is required. `flags` must outlive the parse.
CLI::Option* add_training_options(CLI::App& command, TrainingFlags& flags, const std::string& page,
                                  const std::string& example);

// The changes, each key once. Throws WrongUsage, starting with the command, for a key given twice, even at two depths.
const std::vector<std::string>& changes_of(const std::string& command, const TrainingFlags& flags);
// With --print-config prints the config as YAML and returns true: nothing is trained. Its paths, at `keys`, are
// relative to the file; they are printed relative to the working folder. Throws Error for a flag without effect next to
// it.
bool print_config(const CLI::App& command, const TrainingFlags& flags, Json config, agents::PathKeys keys);

// For training runs without a store: throws Error if `output` holds a training run of another command, or any training,
// begun or finished, and --resume is not given. If there is none to resume, says on stderr that a new one starts.
void require_resume_fits(const std::string& command, const TrainingFlags& flags, const std::filesystem::path& output);

}  // namespace agon::cli
