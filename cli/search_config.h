// cli/search_config.h - the settings of a search as a run's config keeps them.
#pragma once

#include <string>

#include "core/json.h"
#include "critic/search/search_run.h"

namespace agon::cli {

// Adds what shapes a search to the config of a run (cli/play.h): method, budget, version. Threads and writing ahead are
// left out, since they change no result.
void add_search_config(const critic::SearchOptions& options, Json& config);
// Values of --file and --search, which replace the paths of the task file and index in the run's provenance.
struct MovedInputs {
  std::string file, search;
};
// Reads the options back from a config. Throws Error for a run that is not a search, for a search of another version,
// and for a task file or an index that is missing or has changed.
critic::SearchOptions search_options_in(const Json& config, const MovedInputs& moved);

}  // namespace agon::cli
