// tools/search/search.h - SearchBackend, the interface of search engines: a local index, a server of agon or another
// engine. An empty list of hits is an answer; an engine that cannot answer is a failure, never "no hits".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "tools/tool.h"

namespace agon::tools {

struct SearchHit {
  std::string id;  // of the document in its corpus; empty: the engine gives none
  std::string title, text;
  std::string snippet;              // the part of the text that fits the query best; the whole text if it is short
  std::string url;                  // empty: not from the web
  std::optional<double> score;      // higher is better; nothing: the engine gives none
  std::optional<std::string> head;  // as Document::head (tools/search/corpus.h)
};

struct SearchReply {
  std::vector<SearchHit> hits;  // best first; at most top_k
  std::optional<ToolError> failure;
  std::int64_t bytes = 0;  // size of the engine's reply, if it came over a network

  static SearchReply failed(ToolFault fault, std::string message) {
    return {{}, ToolError{fault, std::move(message)}, 0};
  }
};

inline constexpr int kMostHits = 1000;

// Thread-safe.
class SearchBackend {
 public:
  virtual ~SearchBackend() = default;
  // Any text is a valid query. seconds: time limit. Throws Error if agon's own files are broken (a damaged index).
  // REQUIRES: 1 <= top_k <= kMostHits.
  virtual SearchReply search(const std::string& query, int top_k, double seconds) = 0;
  // Identifies the engine, its corpus and its settings: equal identities give equal answers. Contains no secret keys.
  virtual Json identity() const = 0;
};

}  // namespace agon::tools
