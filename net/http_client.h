// net/http_client.h - sends HTTP requests through libcurl. Time and size are bounded, redirects are not followed, and
// only http and https are allowed. Each request is sent once; net/retry.h adds retries.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agon::net {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;   // "Name: value"
  std::optional<std::string> body;    // POST it; nothing: GET
  double seconds = 10;                // from the look-up of the name to the last byte
  std::size_t most_bytes = 8u << 20;  // of the reply, unpacked
  double stall_seconds = 0;           // the request ends after this time without a byte; 0: only `seconds` counts
  bool head = false;                  // HEAD instead of GET
  bool keeps_headers = false;         // fills HttpReply::headers
};

struct HttpReply {
  int status = 0;  // 0: no answer came
  std::string content_type, body;
  std::map<std::string, std::string> headers;  // by their names in lower case, if the request keeps them
  double retry_after = 0;                      // seconds from now, from the header Retry-After (net/retry.h); 0: none
  std::string fault;                           // why no whole answer came; empty: it did
  bool timed_out = false;                      // the fault: the time was up
  bool too_large = false;                      // the fault: more than most_bytes
  bool stopped = false;                        // the fault: HttpStop, HttpClient::cancel, or `bytes` ended it
};

// Runs many requests at a time on one thread, which reuses connections. Thread-safe.
class HttpClient {
 public:
  using Number = std::uint64_t;
  using Done = std::function<void(HttpReply)>;
  // Takes a part of the body; false ends the request.
  using Bytes = std::function<bool(std::string_view)>;

  HttpClient();
  // Ends all requests, calling their `done`, and drops pending calls of call_at.
  ~HttpClient();
  static HttpClient& shared();  // the client of this process

  // Sends a request. `done` is called once, on the client's thread: it must not throw, and must not take long. With
  // `bytes`, the body of a reply with status 200 or 206 goes there as it arrives, and HttpReply::body stays empty.
  Number send(HttpRequest request, Done done, Bytes bytes = {});
  // Ends a request that is still under way, and closes its connection: its fault says that it was stopped.
  void cancel(Number request);
  // Calls `what` on the client's thread at that time or soon after. Like `done`, it must not throw, and must not take
  // long.
  void call_at(std::chrono::steady_clock::time_point time, std::function<void()> what);

 private:
  class Thread;
  const std::unique_ptr<Thread> thread_;
};

// Sends a request through the shared client and waits for the reply.
HttpReply http_request(const HttpRequest& request, HttpClient::Bytes bytes = {});

// As long as it lives, requests of this thread end at once when `stop` is set, with a fault.
class HttpStop {
 public:
  explicit HttpStop(const std::atomic<bool>& stop);
  ~HttpStop();
  HttpStop(const HttpStop&) = delete;
  HttpStop& operator=(const HttpStop&) = delete;
  static bool is_set();  // whether the stop of this thread is set; false if it has none
};

}  // namespace agon::net
