// cli/help/manual.h - the manual page agon(1).
#pragma once

#include <string>
#include <vector>

#include "cli/help/command_table.h"

namespace agon::cli {

// In the man macros of roff. program: its description and its own options; version: as `agon version` prints it.
std::string manual_page(const CommandText& program, const std::vector<CommandText>& commands,
                        const std::string& version);

}  // namespace agon::cli
