// tools/search/search_cache.h - searches recorded in an SQLite file and replayed from it. A search is known by the
// engine's identity (with the hash of its corpus), the query with its white space collapsed, and top_k.
#pragma once

#include <filesystem>
#include <memory>

#include "tools/search/search.h"

namespace agon::tools {

enum class CacheMode {
  off,
  record,  // answer from the file; ask the engine for what is not there, and keep the answer unless it is a failure
  replay,  // answer from the file alone: what is not there is an offline_miss
};

// Thread-safe; several processes may share a file. Throws Error for a file that is not a search cache, and for replay
// without one; search() throws Error when the file cannot be read or written. REQUIRES: mode is not off.
std::unique_ptr<SearchBackend> make_cached_search(std::shared_ptr<SearchBackend> engine,
                                                  const std::filesystem::path& file, CacheMode mode);

}  // namespace agon::tools
