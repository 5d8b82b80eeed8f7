// cli/flags/search_flags.h - the flags of the search backend of `agon query` and `agon serve-search`.
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
  std::string cache, cache_mode;  // as given on the command line
};

// Adds WHERE and the options. `flags` must outlive the parse.
void add_search_options(CLI::App& command, SearchFlags& flags);
// Throws WrongUsage for flags that contradict each other or have no effect, and as tools::open_search does.
std::shared_ptr<tools::SearchBackend> open_search(const SearchFlags& flags, const CLI::App& command);

}  // namespace agon::cli
