// tools/search/retrieve_protocol.h - the server's and the client's side of Search-R1's search protocol, POST /retrieve:
//   {"queries": ["..."], "topk": 3, "return_scores": true}
//   {"result": [[{"document": {"id", "contents", "title", "text"}, "score": 7.1}, ...]]}   one list per query
// Without scores, an item is the document itself.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_parse.h"
#include "tools/search/search.h"

namespace agon::tools {

// The server's side. status: HTTP status; body: JSON, {"error": ...} unless the status is 200.
struct RetrieveAnswer {
  int status = 200;
  std::string body;
};
inline constexpr const char* kTooMany = "too many requests and answers are under way; try again later";  // with 503
inline constexpr int kMostQueries = 4096, kMostDocuments = 65'536;  // per request; documents: over all its queries
struct RetrieveLimits {
  double seconds = 60;                              // for the whole request; then 503
  std::size_t most_bytes = 64u << 20;               // of the answer; 400 for a larger one
  const std::atomic<bool>* stop = nullptr;          // checked before each query; if set: 503
  std::function<bool(std::size_t)> hold = nullptr;  // called before the answer grows to this many bytes; false: 503
};
// Throws Error if the backend does.
RetrieveAnswer answer_retrieve(SearchBackend& backend, std::string_view request, const RetrieveLimits& limits);

// The client's side.
std::string retrieve_request(const std::string& query, int top_k);
// The hits of the one query in the request, at most kMostHits; with or without scores, for documents that have
// "contents" or "text". Throws Error that says how `reply` differs from that form.
std::vector<SearchHit> read_retrieved(const SortedJson& reply);

}  // namespace agon::tools
