#include "cli/help/help.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/text.h"

namespace agon::cli {
namespace {

constexpr std::size_t kOptionWidth = 30, kCommandWidth = 20;  // of the left column
constexpr std::size_t kLeastColumns = 80, kMostColumns = 120;

// "  left      description", with the description wrapped in its column.
std::string row(const std::string& left, std::size_t width, const std::string& description, std::size_t columns) {
  const std::string indent(width, ' ');
  std::string text = "  " + left, line;
  if (text.size() + 2 > width)
    text += "\n" + indent;
  else
    text.resize(width, ' ');
  for (const std::string& word : split_words(description)) {
    if (!line.empty() && width + line.size() + 1 + word.size() > columns) {
      text += line + "\n" + indent;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return text + line + "\n";
}

std::string option_rows(const std::vector<OptionText>& options, std::size_t columns) {
  std::string text;
  for (const std::string& group : groups_of(options)) {
    text += "\n" + group + ":\n";
    for (const OptionText& option : options) {
      if (option.group != group) continue;
      const bool told = option.positional || !option.required;
      text += row(option_form(option), kOptionWidth, option.description + (told ? "" : " (required)"), columns);
    }
  }
  return text;
}

std::size_t terminal_columns() {
  winsize size{};
  const bool terminal = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return std::clamp<std::size_t>(terminal ? size.ws_col : 0, kLeastColumns, kMostColumns);
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    const std::size_t columns = terminal_columns();
    if (app->get_parent()) return command_help(command_text(*app), columns);
    return program_help(command_text(*app), command_texts(*app), columns);
  }
};

}  // namespace

std::string command_help(const CommandText& command, std::size_t columns) {
  return fmt::format("{}\n\nUsage: {}\n{}", command.description, usage_text(command),
                     option_rows(command.options, columns));
}

std::string program_help(const CommandText& program, const std::vector<CommandText>& commands, std::size_t columns) {
  std::string text = fmt::format("{}\n\nUsage: agon COMMAND [options]\n", program.description);
  for (const std::string& group : groups_of(commands)) {
    text += "\n" + group + ":\n";
    for (const CommandText& command : commands)
      if (command.group == group) text += row(command.name, kCommandWidth, command.description, columns);
  }
  return text + option_rows(program.options, columns) + "\n'agon help COMMAND' shows the options of a command.\n";
}

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace agon::cli
