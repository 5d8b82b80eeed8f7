// cli/help/completion.h - scripts that complete commands, options and their values in a shell.
#pragma once

#include <string>
#include <vector>

#include "cli/help/command_table.h"

namespace agon::cli {

// The script for "bash", "zsh" or "fish"; shell_names() are these. REQUIRES: one of them.
std::string completion_script(const std::string& shell, const std::vector<CommandText>& commands);
std::vector<std::string> shell_names();

}  // namespace agon::cli
