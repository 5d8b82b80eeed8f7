// tools/search/search_cache.h - records searches in an SQLite file and replays them from it. The key of a search is the
// engine's identity (with the hash of its corpus), the query with collapsed white space, and top_k.
#pragma once

#include <filesystem>
#include <memory>

#include "tools/search/search.h"

namespace agon::tools {

enum class CacheMode {
  off,
  record,  // answer from the file; for other searches ask the engine, and store its answer unless it is a failure
  replay,  // answer only from the file; any other search is an offline_miss
};

// Thread-safe; several processes may share a file. Throws Error if the file is not a search cache, or if it is absent
// in mode replay; search() throws Error when the file cannot be read or written. REQUIRES: mode is not off.
std::unique_ptr<SearchBackend> make_cached_search(std::shared_ptr<SearchBackend> engine,
                                                  const std::filesystem::path& file, CacheMode mode);

}  // namespace agon::tools
