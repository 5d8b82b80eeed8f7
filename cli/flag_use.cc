#include "cli/flag_use.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/error.h"

namespace agon::cli {

void require_used(const CLI::App& command, const std::vector<FlagUse>& uses) {
  for (const FlagUse& use : uses)
    if (!use.used && command.count(use.flag) > 0)
      throw Error("{}: {} does nothing {}. Leave it out{}.", command.get_name(), use.flag, use.why,
                  use.instead.empty() ? "" : ", or " + use.instead);
}

}  // namespace agon::cli
