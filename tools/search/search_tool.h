// tools/search/search_tool.h - the tool `search`: a policy writes <search>query</search> and gets the documents in
// Search-R1's form, one line per document: Doc 1(Title: ...) text
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/search/search.h"
#include "tools/tool.h"

namespace agon::tools {

struct SearchToolOptions {
  int top_k = 3;                  // default number of documents
  int most_top_k = 10;            // largest number that a call may ask for
  std::size_t most_bytes = 2000;  // of a document's text; longer texts are cut
  bool snippets = false;          // show the part that fits the query best instead of the text
};

// Stateless: forks share the tool.
std::unique_ptr<Tool> make_search_tool(std::shared_ptr<SearchBackend> backend, const SearchToolOptions& options = {});

// The text that the policy reads; "No document matches the query." if there are no hits.
std::string information_of(const std::vector<SearchHit>& hits, const SearchToolOptions& options = {});

}  // namespace agon::tools
