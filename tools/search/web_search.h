// tools/search/web_search.h - search engines over HTTP. A search sends one request and does not retry; the ToolSet
// retries (net/retry.h), after the wait that the server asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/search/search.h"

namespace agon::tools {

struct WebSearchOptions {
  // retrieve: a server of Search-R1's protocol; searxng; serper (key in $SERPER_API_KEY); brave ($BRAVE_API_KEY).
  std::string engine;
  std::string url;                    // required for retrieve and searxng; replaces the default of the others
  std::string corpus;                 // name of a retrieve server's corpus, for the identity; empty: unknown
  std::size_t most_bytes = 8u << 20;  // of a reply
  bool offline = false;               // never connect and need no key: every search is an offline_miss
};

std::vector<std::string> web_engines();  // their names

// An empty query has no hits. Any reply other than hits is a failure: unavailable (errors that net/retry.h retries, or
// no answer from the engines of a SearXNG), timeout, or failed (any other reply, such as HTML instead of JSON).
// Messages and the identity never contain keys. Throws Error for an engine that is unknown or lacks its URL or key.
std::unique_ptr<SearchBackend> make_web_search(const WebSearchOptions& options);

}  // namespace agon::tools
