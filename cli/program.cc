#include "cli/program.h"

#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/flags/usage.h"
#include "cli/help/help.h"
#include "cli/version.h"

namespace agon::cli {
namespace {

struct CommandGroup {
  const char* name;
  std::vector<void (*)(CLI::App& program)> commands;
};

const std::vector<CommandGroup>& groups() {
  static const std::vector<CommandGroup> kGroups{
      {"Play", {add_run, add_eval, add_complete, add_exec}},
      {"Search", {add_search, add_replay}},
      {"Train", {add_train, add_train_sft, add_train_rm, add_selfplay, add_credit}},
      {"Judge", {add_grade, add_score, add_eval_critic, add_eval_rm, add_decompose}},
      {"Data", {add_make_preferences, add_index, add_query}},
      {"Serve", {add_serve, add_serve_search}},
      {"Inspect",
       {add_show, add_report, add_suites, add_pull, add_inspect, add_convert, add_bench, add_tokenize, add_cache,
        add_doctor}},
      {"Help", {add_help, add_version, add_completion, add_man}}};
  return kGroups;
}

// Refuses empty paths.
void require_paths(CLI::App& command) {
  for (CLI::Option* const option : command.get_options())
    if (option->get_type_name() == "<path>") option->check(some_text());
}

}  // namespace

std::shared_ptr<CLI::App> make_program() {
  auto program = std::make_shared<CLI::App>("A gym for multimodal agents", "agon");
  program->set_help_flag("-h,--help", "Print this help and exit");
  program->set_version_flag(
      "--version", [] { return "agon " + version(); }, "Print the version and exit");
  program->formatter(help_formatter());
  program->require_subcommand(0, 1);  // a word after a subcommand belongs to it, even if it names another one
  for (const CommandGroup& group : groups())
    for (const auto add : group.commands) {
      add(*program);
      CLI::App& command = *program->get_subcommands({}).back();
      command.group(group.name);
      require_paths(command);
    }
  return program;
}

}  // namespace agon::cli
