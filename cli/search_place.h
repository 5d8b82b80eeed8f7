// cli/search_place.h - the search index or server that a run of the suite `questions` uses, as the run's config stores
// it: `search` identifies it (an index by its corpus, a server by its address), and its name is kept for provenance.
#pragma once

#include <string>

#include "core/json.h"

namespace agon::cli {

// Does nothing if `where` is empty. Throws Error if it cannot be opened.
void add_search_place(const std::string& where, Json& config);
// The place for the run with this config to search again: `given`, or the recorded place; empty: it does not search.
// Throws Error for an index that no longer exists or holds another corpus.
std::string search_place_in(const Json& config, const std::string& given);

}  // namespace agon::cli
