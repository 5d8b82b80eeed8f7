#include "tools/search/open_search.h"

#include <algorithm>

#include "core/error.h"
#include "tools/search/search_index.h"
#include "tools/search/web_search.h"

namespace agon::tools {
namespace {

bool is_url(const std::string& text) { return text.starts_with("http://") || text.starts_with("https://"); }

std::shared_ptr<SearchBackend> open_engine(const SearchChoice& choice) {
  const bool offline = choice.cache_mode == CacheMode::replay;
  const std::vector<std::string> engines = web_engines();
  const std::size_t plus = choice.where.find('+');
  const std::string name = choice.where.substr(0, plus);
  const bool known = std::find(engines.begin(), engines.end(), name) != engines.end();
  const std::string url = plus == std::string::npos ? "" : choice.where.substr(plus + 1);
  if (is_url(choice.where)) return make_web_search({.engine = "retrieve", .url = choice.where, .offline = offline});
  if (known && (plus == std::string::npos || is_url(url)))
    return make_web_search({.engine = name, .url = url, .offline = offline});
  if (known || choice.where.find("://") != std::string::npos)
    throw Error(
        "search: '{}' is not an address: use http://HOST:PORT or ENGINE+http://HOST:PORT, ENGINE being {} (or https).",
        choice.where, fmt::join(engines, ", "));
  return std::make_shared<SearchIndex>(choice.where, choice.bm25);
}

}  // namespace

bool names_index(const std::string& where) {
  const std::vector<std::string> engines = web_engines();
  const bool engine = std::find(engines.begin(), engines.end(), where.substr(0, where.find('+'))) != engines.end();
  return !engine && where.find("://") == std::string::npos;
}

std::shared_ptr<SearchBackend> open_search(const SearchChoice& choice) {
  if (choice.cache_mode == CacheMode::off) return open_engine(choice);
  if (choice.cache.empty()) throw Error("search: no file to record searches in or replay them from.");
  return make_cached_search(open_engine(choice), choice.cache, choice.cache_mode);
}

}  // namespace agon::tools
