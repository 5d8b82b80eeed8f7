// cli/flags/weights_flag.h - --weights, of commands whose policy may be a model folder. Wherever a policy is named, the
// same may stand behind its folder: models/x#q8.
#pragma once

#include <string>

#include "agents/open_policy.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
class Option;
}  // namespace CLI

namespace agon::cli {

CLI::Option* add_weights_option(CLI::App& command, std::string& weights);
// The policy's weights are kept as the flag says. Throws Error for a server, and where the folder has another ending.
void use_weights(agents::PolicySource& policy, const std::string& weights);

}  // namespace agon::cli
