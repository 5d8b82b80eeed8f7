// cli/help/help.h - what --help prints: a line for each option, wrapped to the terminal.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cli/help/command_table.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class FormatterBase;
}

namespace agon::cli {

std::string command_help(const CommandText& command, std::size_t columns);
// program: its description and its own options.
std::string program_help(const CommandText& program, const std::vector<CommandText>& commands, std::size_t columns);

// A formatter for both, as wide as the terminal of standard output, within 80 to 120 characters; 80 without a terminal.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace agon::cli
