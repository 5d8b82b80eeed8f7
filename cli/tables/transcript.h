// cli/tables/transcript.h - a run and its episodes as text for a terminal, and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/text.h"
#include "record/run_reader.h"

namespace agon::cli {

using agon::printable;

// The summary (for a training run its metrics at the first and the last step), and one line per task, with its id if
// the tasks come from a file.
std::string run_text(const record::RunReader& run);
Json run_json(
    const record::RunReader& run);  // {config, complete, summary or metrics {name: [[step, value]]}, episodes}
std::string episode_text(const record::Episode& episode);
Json episode_json(const record::Episode& episode);  // with tokens and their credit; pictures by hash

}  // namespace agon::cli
