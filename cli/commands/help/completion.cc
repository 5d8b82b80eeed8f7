#include "cli/help/completion.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/flags/usage.h"
#include "cli/output.h"
#include "env/suite.h"

namespace agon::cli {
namespace {

// Adds names that only the program knows: the suites, and the commands for `agon help`.
std::vector<CommandText> completed(const CLI::App& program) {
  std::vector<CommandText> commands = command_texts(program);
  std::vector<std::string> names;
  for (const CommandText& command : commands) names.push_back(command.name);
  for (CommandText& command : commands)
    for (OptionText& option : command.options) {
      if (option.name == "--suite") option.choices = env::suite_names();
      if (command.name == "help" && option.positional) option.choices = names;
    }
  return commands;
}

}  // namespace

void add_completion(CLI::App& program) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = program.add_subcommand("completion", "Print a script that completes agon in a shell");
  command->add_option("SHELL", *shell, "Shell: bash, fish or zsh")->required()->check(one_of(shell_names()));
  command->callback([&program, shell] { print_text(completion_script(*shell, completed(program))); });
}

}  // namespace agon::cli
