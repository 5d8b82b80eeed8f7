// agents/run_summary_table.h - the figures of a run (agents/run_summary.h) for a person.
#pragma once

#include <string>

#include "agents/run_summary.h"

namespace agon::agents {

std::string summary_table(const RunSummary& summary);  // plain text, aligned

}  // namespace agon::agents
