// cli/flags/play_flags.h - the flags that shape an episode: which tasks, and how a turn of the policy is sampled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agents/rollout.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace agon::cli {

inline constexpr const char* kDataFlags = "Data";  // groups of --help
inline constexpr const char* kPolicyFlags = "Policy";
inline constexpr const char* kOutputFlags = "Output";

struct PlayFlags {
  std::string command;  // the subcommand, for messages
  std::string split = "test", file, reexamine, role = "solver", search, baseline, check = "ends";
  std::optional<std::uint64_t> tasks;
  std::uint64_t seed = 0;
  int samples = 8, level = 0, threads = 32, max_tokens = 256;
  double temperature = 1.0, top_p = 1.0;
  bool two_turn = false;
};
// Add flags to a command. Task options select the tasks, sampling options say how a turn is sampled, and play options
// are both and --samples. `flags` must outlive the parse.
void add_task_options(CLI::App& command, PlayFlags& flags);
void add_sampling_options(CLI::App& command, PlayFlags& flags);
void add_play_options(CLI::App& command, PlayFlags& flags);
// Throws WrongUsage for a flag among them that was given and has no effect together with the others.
void require_sampling_used(const CLI::App& command, const PlayFlags& flags);
// The same for a command with --samples. At temperature 0 samples cannot differ, so the default is one, and more throw
// Error.
void settle_samples(const CLI::App& command, PlayFlags& flags);

// The options for a suite, defaults filled in; its task file is read here. Throws WrongUsage for flags that do not fit
// the suite.
agents::RolloutOptions rollout_options(const PlayFlags& flags, const std::string& suite);

}  // namespace agon::cli
