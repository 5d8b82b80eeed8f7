// agents/run_summary_table.h - the figures of a run (agents/run_summary.h) for a person.
#pragma once

#include <string>

#include "core/json.h"

namespace agon::agents {

std::string summary_table(const Json& summary);  // of summarize(); plain text, aligned

}  // namespace agon::agents
