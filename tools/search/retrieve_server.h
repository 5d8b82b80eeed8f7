// tools/search/retrieve_server.h - a backend behind HTTP: POST /retrieve (tools/search/retrieve_protocol.h) and GET
// /health.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "net/http_server.h"
#include "tools/search/search.h"

namespace agon::tools {

struct RetrieveServerOptions {
  std::string host = "127.0.0.1";
  int port = 8000;                             // 0: any that is free
  int threads = 16;                            // requests answered at a time
  std::size_t most_request_bytes = 16u << 20;  // larger ones are refused with 413
  std::size_t most_answer_bytes = 64u << 20;   // requests with larger answers are refused with 400
  double seconds = 60;                         // for one request, from its last byte on
  net::HttpLimits limits;
};

// The same as a part of another server: POST /retrieve. Of the options, `seconds`, `most_answer_bytes` and
// limits.most_held_bytes count; `answered`, if given, counts the requests and lives as long as the route.
net::HttpRoute retrieve_route(std::shared_ptr<SearchBackend> backend, const RetrieveServerOptions& options,
                              std::atomic<std::int64_t>* answered = nullptr);

class RetrieveServer {
 public:
  // Listens from here on. Throws Error where the port is unavailable, or the connections need more open files than are
  // allowed.
  RetrieveServer(std::shared_ptr<SearchBackend> backend, const RetrieveServerOptions& options);
  ~RetrieveServer();

  int port() const;
  // Answers until `stop` is set; requests under way then have half a second to end, and a single search of the backend
  // as long as it takes. To be called once.
  void run(const std::atomic<bool>& stop);
  std::int64_t answered() const;  // requests to /retrieve so far

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::tools
