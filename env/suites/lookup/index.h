// env/suites/lookup/index.h - builds the search index of the documents of env/suites/lookup/world.h once, and keeps it
// under the hash of its contents.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "tools/search/search.h"

namespace agon::env::lookup {

// Opens the search index of lookup_documents() in `folder`, where it is stored under the hash of its contents. Builds
// it if it is absent or damaged. Several processes may do so at once. Throws Error if it cannot be written.
std::shared_ptr<tools::SearchBackend> lookup_index_in(const std::filesystem::path& folder);
// The same in the first usable folder; missing folders are created. A folder that other users can write to is skipped.
// Throws Error with every folder's fault if none is usable.
std::shared_ptr<tools::SearchBackend> lookup_index_in_one_of(const std::vector<std::filesystem::path>& folders);
// The index of this process, in the user's cache folder: agon/ under $XDG_CACHE_HOME or ~/.cache, else agon-UID/ in the
// folder of temporary files.
std::shared_ptr<tools::SearchBackend> lookup_index();

}  // namespace agon::env::lookup
