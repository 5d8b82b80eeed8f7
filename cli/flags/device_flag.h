// cli/flags/device_flag.h - --device, of commands whose policy may be a model folder. Wherever a policy is named, the
// same may stand behind its folder: models/x#cuda.
#pragma once

#include <string>

#include "agents/open_policy.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
class Option;
}  // namespace CLI

namespace agon::cli {

CLI::Option* add_device_option(CLI::App& command, std::string& device);
// The policy is computed on the device of the flag. Throws WrongUsage for a server, and where the folder has another
// ending.
void use_device(agents::PolicySource& policy, const std::string& device);
// Throws WrongUsage for a given --threads, which are of agon's kernels, if the policy is computed by LibTorch.
void require_threads_used(const CLI::App& command, const agents::PolicySource& policy);

}  // namespace agon::cli
