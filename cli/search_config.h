// cli/search_config.h - the settings of a search as a run's config keeps them.
#pragma once

#include <string>

#include "core/json.h"
#include "critic/search/search_run.h"

namespace agon::cli {

// Adds what shapes a search to the config of a run (cli/play.h): method, budget, version. Threads and writing ahead
// change no result and are left out.
void add_search_config(const critic::SearchOptions& options, Json& config);
// Back again. file: what --file gave in place of the run's own task file, by the path that its provenance has; search:
// the same of --search. Throws Error for a run that is no search, one of another version, and a task file that is not
// there or has changed.
critic::SearchOptions search_options_in(const Json& config, const std::string& file, const std::string& search);
bool is_search(const Json& config);

}  // namespace agon::cli
