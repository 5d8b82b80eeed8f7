#include "cli/flags/search_flags.h"

#include <CLI/CLI.hpp>

#include "cli/flags/flag_use.h"
#include "cli/flags/usage.h"

namespace agon::cli {

void add_search_options(CLI::App& command, SearchFlags& flags) {
  tools::SearchChoice& choice = flags.choice;
  command.add_option("WHERE", choice.where, "Index file, http://HOST:PORT (/retrieve), searxng+URL, serper or brave")
      ->required();
  command.add_option("--k1", choice.bm25.k1, "BM25 parameter k1: how soon repeated words stop counting")
      ->type_name("<number>")
      ->check(number_in(0, 100))
      ->capture_default_str();
  command.add_option("--b", choice.bm25.b, "BM25 parameter b: how much long documents are penalised, from 0 to 1")
      ->type_name("<number>")
      ->check(number_in(0, 1))
      ->capture_default_str();
  command.add_option("--cache", flags.cache, "File that keeps searches and their hits")->type_name("<path>");
  command
      .add_option("--cache-mode", flags.cache_mode,
                  "Use of the cache: record (ask for what is missing and keep it) or replay (never ask)")
      ->type_name("<name>")
      ->check(one_of({"record", "replay"}));
}

std::shared_ptr<tools::SearchBackend> open_search(const SearchFlags& flags, const CLI::App& command) {
  for (const char* flag : {"--k1", "--b"})
    require_used(command, {{flag, tools::names_index(flags.choice.where), "where " + flags.choice.where + " ranks",
                            "name the file of an index"}});
  if (flags.cache.empty() != flags.cache_mode.empty())
    throw WrongUsage("{}: --cache and --cache-mode go together; give both or neither.", command.get_name());
  tools::SearchChoice choice = flags.choice;
  choice.cache = flags.cache;
  if (!flags.cache_mode.empty())
    choice.cache_mode = flags.cache_mode == "record" ? tools::CacheMode::record : tools::CacheMode::replay;
  return tools::open_search(choice);
}

}  // namespace agon::cli
