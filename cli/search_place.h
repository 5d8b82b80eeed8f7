// cli/search_place.h - where a run of the suite questions searches, as its config keeps it: `search`, what tells one
// place from another (an index by its corpus, a server by its address), and how it was named, for provenance.
#pragma once

#include <string>

#include "core/json.h"

namespace agon::cli {

// Nothing where `where` is empty. Throws Error where it cannot be opened.
void add_search_place(const std::string& where, Json& config);
// Where the run with this config is to search again: `given`, or where it searched; empty: nowhere. Throws Error for an
// index that is not there any more, or holds another corpus.
std::string search_place_in(const Json& config, const std::string& given);

}  // namespace agon::cli
