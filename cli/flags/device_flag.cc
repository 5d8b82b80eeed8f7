#include "cli/flags/device_flag.h"
#include "cli/flags/usage.h"

#include <CLI/CLI.hpp>

#include "cli/flags/flag_use.h"

namespace agon::cli {

CLI::Option* add_device_option(CLI::App& command, std::string& device) {
  return command
      .add_option("--device", device,
                  "Device that computes a model folder: cpu, or with LibTorch torch:cpu, cuda or cuda:N (default: cpu)")
      ->type_name("<name>")
      ->check([](const std::string& name) {
        return agents::names_device(name) ? std::string() : "'" + name + "' is not cpu, torch:cpu, cuda or cuda:N";
      });
}

void use_device(agents::PolicySource& policy, const std::string& device) {
  if (device.empty()) return;
  if (policy.endpoint) throw WrongUsage("--device does nothing with a server, which has its own. Leave it out.");
  if (policy.choices.device != agents::kCpuDevice && policy.choices.device != device)
    throw WrongUsage("--device {} contradicts #{} behind the folder. Leave one of them out.", device,
                     policy.choices.device);
  policy.choices.device = device;
}

void require_threads_used(const CLI::App& command, const agents::PolicySource& policy) {
  require_used(command, {{.flag = "--threads",
                          .used = policy.endpoint || policy.choices.device == agents::kCpuDevice,
                          .why = "on the device " + policy.choices.device}});
}

}  // namespace agon::cli
