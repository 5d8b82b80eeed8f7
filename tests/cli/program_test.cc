#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <set>

#include "cli/help/command_table.h"
#include "cli/help/completion.h"
#include "cli/help/help.h"
#include "cli/help/manual.h"
#include "core/text.h"

namespace agon::cli {
namespace {

std::vector<CommandText> all_commands() { return command_texts(*make_program()); }

// Checks that a text begins with a capital letter and has no final full stop.
void check_style(const std::string& text) {
  CAPTURE(text);
  REQUIRE_FALSE(text.empty());
  const auto first = static_cast<unsigned char>(text.front());
  CHECK(std::isupper(first));
  CHECK_FALSE(text.ends_with("."));
  CHECK(text.find("  ") == std::string::npos);
}

TEST_CASE("every command and every option is described in one style") {
  static const std::set<std::string> kValues{"",          "<n>",         "<number>", "<path>", "<name>",
                                             "<text>",    "<limits>",    "<where>",  "<url>",  "<key=value>",
                                             "<address>", "<name=path>", "<name,..>"};
  for (const CommandText& command : all_commands()) {
    CAPTURE(command.name);
    check_style(command.description);
    CHECK(command.description.size() <= 60);  // fits a line of 80 characters in the list
    for (const OptionText& option : command.options) {
      CAPTURE(option.name);
      check_style(option.description);
      if (!option.positional) CHECK(kValues.contains(option.value));
      if (option.positional) CHECK(std::ranges::all_of(option.name, [](char c) { return c >= 'A' && c <= 'Z'; }));
    }
    CHECK(command.options.back().name == "-h, --help");
  }
}

TEST_CASE("commands stand in groups, and nothing is hidden but old names") {
  const std::vector<CommandText> commands = all_commands();
  CHECK(groups_of(commands) ==
        std::vector<std::string>{"Play", "Search", "Train", "Judge", "Data", "Serve", "Inspect", "Help"});
  const std::string help = program_help(command_text(*make_program()), commands, 80);
  CHECK_THAT(help, Catch::StartsWith("A gym for multimodal agents\n\nUsage: agon COMMAND [options]\n\nPlay:\n  run "));
  for (const CommandText& command : commands) CHECK_THAT(help, Catch::Contains("\n  " + command.name + " "));
  CHECK_THAT(help, !Catch::Contains("--rm"));
}

TEST_CASE("help is wrapped to the terminal, and says defaults and what is required") {
  const auto program = make_program();
  for (const std::size_t columns : {80u, 100u, 120u})
    for (const CommandText& command : all_commands())
      for (const std::string& line : split(command_help(command, columns), "\n")) {
        CAPTURE(line);
        CHECK(line.size() <= columns);
      }
  const std::string run = command_help(command_text(*program->get_subcommand("run")), 80);
  CHECK_THAT(run, Catch::Contains("\nUsage: agon run [options]\n\nData:\n"));
  CHECK_THAT(run, Catch::Contains("\n  --seed <n>                  Root of every random stream (default: 0)\n"));
  CHECK_THAT(run, Catch::Contains("\n  -h, --help                  Print this help and exit\n"));
  const std::string show = command_help(command_text(*program->get_subcommand("show")), 80);
  CHECK_THAT(show, Catch::Contains("Usage: agon show [options] RUN [EPISODE]\n"));
  const std::string exec = command_help(command_text(*program->get_subcommand("exec")), 80);
  CHECK_THAT(exec, Catch::Contains("Usage: agon exec [options] SCRIPT...\n"));
  CHECK_THAT(exec, Catch::Contains("\n  --image <path>...  "));
  CHECK_THAT(command_help(command_text(*program->get_subcommand("index")), 80), Catch::Contains("(required)"));
}

TEST_CASE("completions and the manual know every command and every option") {
  const auto program = make_program();
  const std::vector<CommandText> commands = command_texts(*program);
  const std::string manual = manual_page(command_text(*program), commands, "1.2.3");
  CHECK_THAT(manual, Catch::StartsWith(".TH AGON 1 \"\" \"agon 1.2.3\" \"User Commands\"\n"));
  CHECK_THAT(manual, Catch::Contains(".TP\n.B 130\n"));
  for (const std::string& shell : shell_names()) {
    const std::string script = completion_script(shell, commands);
    CAPTURE(shell);
    CHECK(script.find('@') == std::string::npos);
    for (const CommandText& command : commands) {
      CHECK_THAT(script, Catch::Contains(command.name));
      CHECK_THAT(manual, Catch::Contains("\n.SH agon "));
      for (const OptionText& option : command.options) {
        if (option.positional) continue;
        const std::string name = option.name.substr(option.name.find("--"));
        CHECK_THAT(script, Catch::Contains(shell == "fish" ? "-l " + name.substr(2) : name));
      }
    }
  }
  CHECK_THAT(completion_script("bash", commands), Catch::Contains("    'run --split') values='test train' ;;\n"));
  CHECK_THAT(completion_script("fish", commands),
             Catch::Contains("'__fish_seen_subcommand_from run' -l split -x -a 'test train' -d "));
}

}  // namespace
}  // namespace agon::cli
