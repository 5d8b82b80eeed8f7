// tools/search/web_search.h - search engines behind HTTP. Each is asked once: the ToolSet retries (net/retry.h), after
// the wait that a server asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/search/search.h"

namespace agon::tools {

struct WebSearchOptions {
  // retrieve: a server of Search-R1's protocol; searxng; serper (key in $SERPER_API_KEY); brave ($BRAVE_API_KEY).
  std::string engine;
  std::string url;                    // of retrieve and searxng; the others have their own, which this replaces
  std::string corpus;                 // what a retrieve server searches, for the identity; empty: not known
  std::size_t most_bytes = 8u << 20;  // of a reply
  bool offline = false;               // never connect, and need no key: every search is an offline_miss
};

std::vector<std::string> web_engines();  // their names

// A query without a word in it has no hits. Replies other than hits fail: unavailable (what net/retry.h tries again,
// engines of a SearXNG that did not answer), timeout, or failed (any other answer, HTML in place of JSON among them).
// Keys are in no message and no identity. Throws Error for an engine that is unknown or lacks its URL or key.
std::unique_ptr<SearchBackend> make_web_search(const WebSearchOptions& options);

}  // namespace agon::tools
