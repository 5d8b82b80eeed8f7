// tools/search/retrieve_server.h - serves a search backend over HTTP: POST /retrieve (tools/search/retrieve_protocol.h)
// and GET /health.
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
  int port = 8000;                             // 0: any free port
  int threads = 16;                            // requests answered at a time
  std::size_t most_request_bytes = 16u << 20;  // larger requests are refused with 413
  std::size_t most_answer_bytes = 64u << 20;   // requests with larger answers are refused with 400
  double seconds = 60;                         // for one request, from its last byte
  net::HttpLimits limits;
};

// POST /retrieve as a route of another server. Uses only the options `seconds`, `most_answer_bytes` and
// limits.most_held_bytes. `answered`, if given, counts the requests and must outlive the route.
net::HttpRoute retrieve_route(std::shared_ptr<SearchBackend> backend, const RetrieveServerOptions& options,
                              std::atomic<std::int64_t>* answered = nullptr);

class RetrieveServer {
 public:
  // Starts to listen. Throws Error if the port is unavailable, or if the connections need more open files than are
  // allowed.
  RetrieveServer(std::shared_ptr<SearchBackend> backend, const RetrieveServerOptions& options);
  ~RetrieveServer();

  int port() const;
  // Answers until `stop` is set. Then requests under way have limits.stop_seconds to end, but a search of the backend
  // that has begun is always finished. To be called once.
  void run(const std::atomic<bool>& stop);
  std::int64_t answered() const;  // requests to /retrieve so far

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::tools
