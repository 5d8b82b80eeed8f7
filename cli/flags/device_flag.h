// cli/flags/device_flag.h - the flag --device of commands whose policy may be a model folder. A folder name may also
// end with the device, as in models/x#cuda.
#pragma once

#include <string>

#include "agents/open_policy.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
class Option;
}  // namespace CLI

namespace agon::cli {

CLI::Option* add_device_option(CLI::App& command, std::string& device);
// Computes the policy on the device of the flag. Throws WrongUsage for a server, and for a folder name that ends with
// another device.
void use_device(agents::PolicySource& policy, const std::string& device);
// Throws WrongUsage if --threads was given and LibTorch computes the policy: the flag is for agon's kernels.
void require_threads_used(const CLI::App& command, const agents::PolicySource& policy);

}  // namespace agon::cli
