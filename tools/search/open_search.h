// tools/search/open_search.h - a search backend by one text, as a command line or a config names it.
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
  Bm25 bm25;                    // of an index
  std::filesystem::path cache;  // of searches
  CacheMode cache_mode = CacheMode::off;
};

// Whether it names the file of an index: neither an address nor an engine.
bool names_index(const std::string& where);
// Throws Error as SearchIndex, make_web_search and make_cached_search do.
std::shared_ptr<SearchBackend> open_search(const SearchChoice& choice);

}  // namespace agon::tools
