#include "cli/help/manual.h"

#include <fmt/format.h>

#include "cli/exit_codes.h"
#include "core/text.h"

namespace agon::cli {
namespace {

// Text of one line, which roff must not read as a request.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

std::string item(const std::string& name, const std::string& text) {
  return fmt::format(".TP\n.B {}\n{}\n", escaped(name), escaped(text));
}

std::string options_of(const CommandText& command) {
  std::string text;
  for (const OptionText& option : command.options) text += item(option_form(option), option.description + ".");
  return text;
}

}  // namespace

std::string manual_page(const CommandText& program, const std::vector<CommandText>& commands,
                        const std::string& version) {
  std::string text = fmt::format(".TH AGON 1 \"\" \"agon {}\" \"User Commands\"\n", escaped(version));
  text += fmt::format(".SH NAME\nagon \\- {}\n", escaped(to_lower(program.description)));
  text += ".SH SYNOPSIS\n.B agon\n.I COMMAND\n[options]\n.SH COMMANDS\n";
  for (const std::string& group : groups_of(commands)) {
    text += fmt::format(".SS {}\n", escaped(group));
    for (const CommandText& command : commands)
      if (command.group == group) text += item(command.name, command.description + ".");
  }
  text += ".SH OPTIONS\n" + options_of(program);
  for (const CommandText& command : commands)
    text += fmt::format(".SH agon {}\n{}.\n.PP\n.B {}\n{}", escaped(command.name), escaped(command.description),
                        escaped(usage_text(command)), options_of(command));
  text += ".SH EXIT STATUS\n";
  for (const ExitCode& code : kExitCodes) text += item(fmt::format("{}", code.code), std::string(code.meaning) + ".");
  return text;
}

}  // namespace agon::cli
