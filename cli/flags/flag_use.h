// cli/flags/flag_use.h - refuses flags that would change nothing, so that no setting is silently ignored.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace agon::cli {

struct FlagUse {
  std::string flag;          // "--width"
  bool used = false;         // it has an effect in this call
  std::string why;           // "with --method guided"
  std::string instead = {};  // "choose --method beam, diverse-beam or mcts"; empty: leave it out
};

// Throws WrongUsage for the first of `uses` that was given and is not used: "search: --width does nothing with --method
// guided. Leave it out, or choose --method beam, diverse-beam or mcts." REQUIRES: the command has every flag.
void require_used(const CLI::App& command, const std::vector<FlagUse>& uses);

// Throw WrongUsage for a value given twice, so that nothing counts twice: "eval-critic: --suite charts is given twice.
// Give it once." The second one resolves paths before it compares them.
void require_each_once(const std::string& command, const std::string& flag, const std::vector<std::string>& values);
void require_each_path_once(const std::string& command, const std::string& flag, const std::vector<std::string>& paths);
// Throws WrongUsage if several samples of one prompt cannot differ.
void require_samples_differ(const std::string& command, int samples, double temperature);

}  // namespace agon::cli
