// agents/run_summary_table.h - prints the figures of a run (agents/run_summary.h) as a table for the terminal.
#pragma once

#include <string>

#include "agents/run_summary.h"

namespace agon::agents {

std::string summary_table(const RunSummary& summary);  // plain text, aligned

}  // namespace agon::agents
