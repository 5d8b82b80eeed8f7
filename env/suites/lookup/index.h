// env/suites/lookup/index.h - builds the search index of the documents of env/suites/lookup/world.h once, and finds it
// again by its contents.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "tools/search/search.h"

namespace agon::env::lookup {

// lookup_documents() as a search index, which lies in `folder` under the hash of its contents; it is built unless it is
// there and whole. Several processes may do so at once. Throws Error where it cannot be written.
std::shared_ptr<tools::SearchBackend> lookup_index_in(const std::filesystem::path& folder);
// In the first of the folders that has it or accepts it; missing folders are created. A folder that others can write
// into is not used. Throws Error with every folder's fault where no folder is usable.
std::shared_ptr<tools::SearchBackend> lookup_index_in_one_of(const std::vector<std::filesystem::path>& folders);
// The one of this process, in the user's cache folder: agon/ under $XDG_CACHE_HOME or ~/.cache, else agon-UID/ in the
// folder of temporary files.
std::shared_ptr<tools::SearchBackend> lookup_index();

}  // namespace agon::env::lookup
