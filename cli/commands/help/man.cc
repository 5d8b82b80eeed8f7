#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/help/command_table.h"
#include "cli/help/manual.h"
#include "cli/output.h"
#include "cli/version.h"

namespace agon::cli {

void add_man(CLI::App& program) {
  program.add_subcommand("man", "Print the manual page, for 'man -l' or a file agon.1")->callback([&program] {
    print_text(manual_page(command_text(program), command_texts(program), version()));
  });
}

}  // namespace agon::cli
