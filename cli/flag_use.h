// cli/flag_use.h - refuses flags that would change nothing, so that nobody believes in a setting which was ignored.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace agon::cli {

struct FlagUse {
  std::string flag;          // "--width"
  bool used = false;         // it changes something in this call
  std::string why;           // "with --method guided"
  std::string instead = {};  // "choose --method beam, diverse-beam or mcts"; empty: there is only leaving it out
};

// Throws Error for the first of `uses` that was given and is not used: "search: --width does nothing with --method
// guided. Leave it out, or choose --method beam, diverse-beam or mcts." REQUIRES: the command has every flag.
void require_used(const CLI::App& command, const std::vector<FlagUse>& uses);

}  // namespace agon::cli
