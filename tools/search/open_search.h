// tools/search/open_search.h - opens the search backend that a text on a command line or in a config names.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tools/search/bm25.h"
#include "tools/search/search.h"
#include "tools/search/search_cache.h"

namespace agon::tools {

struct SearchChoice {
  // A file that `agon index` wrote; "http://host:8000" (a /retrieve server), "searxng+http://host", "serper", "brave".
  std::string where;
  Bm25 bm25;                    // parameters, for an index
  std::filesystem::path cache;  // file of recorded searches
  CacheMode cache_mode = CacheMode::off;
};

// Whether `where` names the file of an index, not an address or an engine.
bool names_index(const std::string& where);
// Throws Error as SearchIndex, make_web_search and make_cached_search do.
std::shared_ptr<SearchBackend> open_search(const SearchChoice& choice);

}  // namespace agon::tools
