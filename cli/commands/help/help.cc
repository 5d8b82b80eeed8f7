#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/output.h"
#include "core/text.h"

namespace agon::cli {
namespace {

const CLI::App* find_command(const CLI::App& program, const std::string& name) {
  for (const CLI::App* command : program.get_subcommands({}))
    if (command->get_name() == name) return command;
  return nullptr;
}

std::string check_command(const CLI::App& program, const std::string& name) {
  if (find_command(program, name)) return {};
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  const std::string message = unknown_name_message("command", name, names);
  return message.substr(message.find("no '"));  // the parser's message starts with COMMAND
}

}  // namespace

void add_help(CLI::App& program) {
  auto name = std::make_shared<std::string>();
  CLI::App* help = program.add_subcommand("help", "Show how a command is used, or list the commands");
  help->add_option("COMMAND", *name, "Command to explain (default: list them all)")
      ->check([&program](const std::string& text) { return check_command(program, text); });
  help->callback([&program, name] {
    const CLI::App* command = name->empty() ? &program : find_command(program, *name);
    const std::string full_name = name->empty() ? "agon" : "agon " + *name;
    print_text(program.get_formatter()->make_help(command, full_name, CLI::AppFormatMode::Normal));
  });
}

}  // namespace agon::cli
