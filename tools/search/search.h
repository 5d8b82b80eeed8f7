// tools/search/search.h - the interface of search backends: a local index, a server of agon or another one. No hits is
// an answer; an engine that cannot answer is a failure, never "no hits".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "tools/tool.h"

namespace agon::tools {

struct SearchHit {
  std::string id;  // of the document in its corpus; empty: the engine has none
  std::string title, text;
  std::string snippet;              // the part of the text that fits the query best; the text itself where it is short
  std::string url;                  // empty: not of the web
  std::optional<double> score;      // higher is better; nothing: the engine gives none
  std::optional<std::string> head;  // as Document::head (tools/search/corpus.h)
};

struct SearchReply {
  std::vector<SearchHit> hits;  // best first; at most top_k
  std::optional<ToolError> failure;
  std::int64_t bytes = 0;  // of the engine's reply, where it came over a network

  static SearchReply failed(ToolFault fault, std::string message) {
    return {{}, ToolError{fault, std::move(message)}, 0};
  }
};

inline constexpr int kMostHits = 1000;

// Thread-safe.
class SearchBackend {
 public:
  virtual ~SearchBackend() = default;
  // Any text is a legal query. seconds: that this may take. Throws Error where our own machinery is broken (a damaged
  // index). REQUIRES: 1 <= top_k <= kMostHits.
  virtual SearchReply search(const std::string& query, int top_k, double seconds) = 0;
  // Which engine answers, over which corpus, with which settings: equal identities answer alike. Holds no keys.
  virtual Json identity() const = 0;
};

}  // namespace agon::tools
