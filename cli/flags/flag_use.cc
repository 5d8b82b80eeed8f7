#include "cli/flags/flag_use.h"
#include "cli/flags/usage.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "core/paths.h"

namespace agon::cli {

void require_used(const CLI::App& command, const std::vector<FlagUse>& uses) {
  for (const FlagUse& use : uses)
    if (!use.used && command.count(use.flag) > 0)
      throw WrongUsage("{}: {} does nothing {}. Leave it out{}.", command.get_name(), use.flag, use.why,
                       use.instead.empty() ? "" : ", or " + use.instead);
}

void require_each_once(const std::string& command, const std::string& flag, const std::vector<std::string>& values) {
  for (const std::string& value : values)
    if (std::ranges::count(values, value) > 1)
      throw WrongUsage("{}: {} {} is given twice. Give it once.", command, flag, value);
}

void require_each_path_once(const std::string& command, const std::string& flag,
                            const std::vector<std::string>& paths) {
  of_flags([&] {
    agon::require_each_path_once(fmt::format("{}: {}", command, flag),
                                 std::vector<std::filesystem::path>(paths.begin(), paths.end()));
  });
}

void require_samples_differ(const std::string& command, int samples, double temperature) {
  if (samples > 1 && temperature <= 0)
    throw WrongUsage("{}: {} samples at temperature 0 are all the same. Give --samples 1, or a --temperature above 0.",
                     command, samples);
}

}  // namespace agon::cli
