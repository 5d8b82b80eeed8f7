// net/http_client.h - sends one HTTP request through libcurl. Time and size are bounded, redirects are not followed,
// and only http and https are allowed. Thread-safe; each thread keeps its own connections.
// It sends once; net/retry.h sends again.
#pragma once

#include <atomic>
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
};

struct HttpReply {
  int status = 0;  // 0: no answer came
  std::string content_type, body;
  double retry_after = 0;  // seconds from now, as the server asked in Retry-After (net/retry.h); 0: it did not
  std::string fault;       // why no whole answer came; empty: it did
  bool timed_out = false;  // such a fault
  bool too_large = false;  // such a fault: more than most_bytes
};

HttpReply http_request(const HttpRequest& request);

// As long as it lives, requests of this thread end at once when `stop` is set, with a fault.
class HttpStop {
 public:
  explicit HttpStop(const std::atomic<bool>& stop);
  ~HttpStop();
  HttpStop(const HttpStop&) = delete;
  HttpStop& operator=(const HttpStop&) = delete;
  static bool is_set();  // that of this thread; false: it has none
};

std::string url_encode(std::string_view text);  // all but letters, digits and "-._~" as %XX
// Scheme, host, port and path: what a message or a record may show of a URL.
std::string public_url(std::string_view url);

}  // namespace agon::net
