#include "cli/version.h"

#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/output.h"

namespace agon::cli {

void add_version(CLI::App& program) {
  program.add_subcommand("version", "Print the version and the commit that it was built from")->callback([] {
    print_text("agon " + version() + "\n");
  });
}

}  // namespace agon::cli
