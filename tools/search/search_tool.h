// tools/search/search_tool.h - the tool `search` of a policy: <search>query</search>, answered as Search-R1 has it, one
// line a document: Doc 1(Title: ...) text
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/search/search.h"
#include "tools/tool.h"

namespace agon::tools {

struct SearchToolOptions {
  int top_k = 3;                  // documents where the call does not say how many,
  int most_top_k = 10;            // and the most that it may ask for
  std::size_t most_bytes = 2000;  // of a document's text; more is cut
  bool snippets = false;          // the part that fits the query best in place of the text
};

// Stateless: forks share it.
std::unique_ptr<Tool> make_search_tool(std::shared_ptr<SearchBackend> backend, const SearchToolOptions& options = {});

// What the policy reads; "No document matches the query." for none.
std::string information_of(const std::vector<SearchHit>& hits, const SearchToolOptions& options = {});

}  // namespace agon::tools
