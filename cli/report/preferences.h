// cli/report/preferences.h - the part of a report that shows preferences: ranked responses, and the graphs of votes.
#pragma once

#include "cli/report/data.h"
#include "core/json.h"
#include "record/run_reader.h"

namespace agon::cli {

// Adds {images} and "preferences": {summary (null while incomplete), sets [as critic/reward_model/preference_maker.h
// has them], total}. Sets with removed arcs come first, then by task, within limits.tasks and limits.bytes.
void add_preferences(const record::RunReader& run, const ReportLimits& limits, Json& data);

}  // namespace agon::cli
