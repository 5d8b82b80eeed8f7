// tools/search/retrieve_protocol.h - Search-R1's POST /retrieve, both sides of it:
//   {"queries": ["..."], "topk": 3, "return_scores": true}
//   {"result": [[{"document": {"id", "contents", "title", "text"}, "score": 7.1}, ...]]}   a list a query
// Without scores an item is the document itself.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_parse.h"
#include "tools/search/search.h"

namespace agon::tools {

// The server's side. status: of HTTP; body: JSON, {"error": ...} except for 200.
struct RetrieveAnswer {
  int status = 200;
  std::string body;
};
inline constexpr const char* kTooMany = "too many requests and answers are under way; try again later";  // with 503
inline constexpr int kMostQueries = 4096, kMostDocuments = 65'536;  // of one request, the documents asked for
struct RetrieveLimits {
  double seconds = 60;                              // for the whole request; then 503
  std::size_t most_bytes = 64u << 20;               // of the answer; 400 for a larger one
  const std::atomic<bool>* stop = nullptr;          // looked at between queries; then 503
  std::function<bool(std::size_t)> hold = nullptr;  // is asked before the answer grows to so many bytes; false: 503
};
// Throws Error where the backend does.
RetrieveAnswer answer_retrieve(SearchBackend& backend, std::string_view request, const RetrieveLimits& limits);

// The client's side.
std::string retrieve_request(const std::string& query, int top_k);
// The first kMostHits hits of the one query that was asked; with or without scores, and of documents that have
// "contents" or "text". Throws Error that says what about `reply` is not of that form.
std::vector<SearchHit> read_retrieved(const SortedJson& reply);

}  // namespace agon::tools
