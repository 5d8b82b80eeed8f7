// cli/search_config.h - the settings of a search as a run's config keeps them.
#pragma once

#include <string>

#include "core/json.h"
#include "critic/search/search_run.h"

namespace agon::cli {

// Adds what shapes a search to the config of a run (cli/play.h): method, budget, version. Threads and writing ahead
// change no result and are left out.
void add_search_config(const critic::SearchOptions& options, Json& config);
// What --file and --search give in place of the run's own task file and index, by the paths that its provenance has.
struct MovedInputs {
  std::string file, search;
};
// Back again. Throws Error for a run that is no search, one of another version, and a task file or an
// index that is not there or has changed.
critic::SearchOptions search_options_in(const Json& config, const MovedInputs& moved);

}  // namespace agon::cli
