// cli/help/command_table.h - the commands and their options as texts, from which --help, the manual and the shell
// completions are made.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace agon::cli {

struct OptionText {
  std::string name;                  // "--suite"; of a positional argument "RUN"
  std::string value;                 // "<name>"; empty: a switch
  std::string description;           // with its default
  std::string group;                 // "Data"
  std::vector<std::string> choices;  // all accepted values, if they are few
  bool positional = false, required = false, repeated = false;
};

struct CommandText {
  std::string name, description, group;
  std::vector<OptionText> options;  // positional ones first, groups together, --help last
};

// Leaves out old names of options.
CommandText command_text(const CLI::App& command);
// The commands of the program, in its order.
std::vector<CommandText> command_texts(const CLI::App& program);

// "agon show [options] RUN [EPISODE]".
std::string usage_text(const CommandText& command);
// "--image <path>...": an option and what follows it.
std::string option_form(const OptionText& option);
// The groups of commands or options, in the order in which they first appear.
template <typename Text>
std::vector<std::string> groups_of(const std::vector<Text>& texts) {
  std::vector<std::string> groups;
  for (const Text& text : texts) {
    bool known = false;
    for (const std::string& group : groups) known = known || group == text.group;
    if (!known) groups.push_back(text.group);
  }
  return groups;
}

}  // namespace agon::cli
