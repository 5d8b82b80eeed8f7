// cli/flags/search_flags.h - where `agon query` and `agon serve-search` look: the flags of a search backend.
#pragma once

#include <memory>
#include <string>

#include "tools/search/open_search.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace agon::cli {

struct SearchFlags {
  tools::SearchChoice choice;
  std::string cache, cache_mode;  // of the choice, as given
};

// Adds WHERE and the options. `flags` must outlive the parse.
void add_search_options(CLI::App& command, SearchFlags& flags);
// Throws Error for flags that do not fit each other or change nothing, and as tools::open_search does.
std::shared_ptr<tools::SearchBackend> open_search(const SearchFlags& flags, const CLI::App& command);

}  // namespace agon::cli
