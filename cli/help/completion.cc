#include "cli/help/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cassert>

namespace agon::cli {
namespace {

// @COMMANDS@, @FLAGS@ and @VALUES@ are filled in. Without suggestions the shell completes file names.
constexpr const char* kBash = R"bash(_agon() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} flags= values=
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "@COMMANDS@" -- "$word"))
    return
  fi
  case ${COMP_WORDS[1]} in
@FLAGS@  esac
  case "${COMP_WORDS[1]} $before" in
@VALUES@  esac
  COMPREPLY=()
  if [ -n "$values" ]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
  else
    case $word in -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;; esac
  fi
}
complete -o default -F _agon agon
)bash";

// zsh takes the same script.
constexpr const char* kZsh = R"zsh((( $+functions[compdef] )) || { autoload -U +X compinit && compinit; }
autoload -U +X bashcompinit && bashcompinit
)zsh";

std::string filled(std::string text, const std::string& mark, const std::string& value) {
  return text.replace(text.find(mark), mark.size(), value);
}

std::string bash_script(const std::vector<CommandText>& commands) {
  std::string names, flags, values;
  for (const CommandText& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    std::string own;
    for (const OptionText& option : command.options) {
      if (!option.positional) own += (own.empty() ? "" : " ") + option.name.substr(option.name.find("--"));
      if (option.choices.empty()) continue;
      // The first argument of a command follows its name.
      const std::string before = command.name + " " + (option.positional ? command.name : option.name);
      values += fmt::format("    '{}') values='{}' ;;\n", before, fmt::join(option.choices, " "));
    }
    flags += fmt::format("    {}) flags='{}' ;;\n", command.name, own);
  }
  return filled(filled(filled(kBash, "@COMMANDS@", names), "@FLAGS@", flags), "@VALUES@", values);
}

std::string quoted(const std::string& text) {  // for fish
  std::string result = "'";
  for (const char c : text) result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return result + "'";
}

std::string fish_script(const std::vector<CommandText>& commands) {
  std::string text;
  for (const CommandText& command : commands)
    text += fmt::format("complete -c agon -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        quoted(command.description));
  for (const CommandText& command : commands) {
    const std::string here = fmt::format("complete -c agon -n '__fish_seen_subcommand_from {}'", command.name);
    for (const OptionText& option : command.options) {
      const std::string choices = quoted(fmt::format("{}", fmt::join(option.choices, " ")));
      if (option.positional) {
        if (!option.choices.empty()) text += fmt::format("{} -f -a {}\n", here, choices);
        continue;
      }
      const std::string needs = option.value.empty() ? "" : option.choices.empty() ? " -r" : " -x -a " + choices;
      text += fmt::format("{} -l {}{} -d {}\n", here, option.name.substr(option.name.find("--") + 2), needs,
                          quoted(option.description));
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const std::string& shell, const std::vector<CommandText>& commands) {
  if (shell == "fish") return fish_script(commands);
  if (shell == "zsh") return std::string(kZsh) + bash_script(commands);
  assert(shell == "bash");
  return bash_script(commands);
}

std::vector<std::string> shell_names() { return {"bash", "fish", "zsh"}; }

}  // namespace agon::cli
