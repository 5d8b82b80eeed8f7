// net/request_queue.h - sends many requests to one server: as many at a time as it takes, with retries.
//
//   the window  Bounds the requests under way, from 1 to `most_in_flight`. Until the first refusal the window
//               grows by one per good answer, then by one per window of good answers. A 429, a 503 or a timeout halves
//               it; requests sent before the last halving do not halve it again (AIMD).
//   retries     A request that was refused (429, 503), timed out or got no answer at all is retried until
//               `patience_seconds` after it entered the queue. After other transient faults (net/retry.h) it gets
//               `attempts` in all.
//   the wait    Retry-After holds back all requests of the queue. In addition, each retry waits a random time from 0
//               to `backoff_seconds`, doubled after each attempt, at most 30 s.
//   gone        If attempts fail and no answer of any kind comes for `gone_seconds`, the server is given up: all
//               requests in the queue and all later ones end at once. Timeouts do not count as failed attempts.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "net/http_client.h"

namespace agon::net {

struct QueueOptions {
  int most_in_flight = 256;
  int first_window = 32;
  int attempts = 4;  // the first included
  double backoff_seconds = 0.5;
  double patience_seconds = 600;
  double gone_seconds = 30;
  std::uint64_t seed = 0;  // of the random waits
};

struct QueueFigures {
  std::int64_t requests = 0;  // entered into the queue
  std::int64_t attempts = 0;  // sent
  std::int64_t refused = 0;   // answers 429 and 503
  std::int64_t timed_out = 0;
  int in_flight = 0, most_in_flight = 0;
};

// Thread-safe.
class RequestQueue {
 public:
  using Number = std::uint64_t;

  explicit RequestQueue(const QueueOptions& options, HttpClient& client = HttpClient::shared());
  // Ends all requests: their `done` is called with a fault, before this returns.
  ~RequestQueue();

  // `done` gets the last reply, once: on the client's thread, or on the one that cancels. It must not throw, and must
  // not take long. The request must do no harm if it arrives twice. new_bytes: called before each attempt; what it
  // returns takes the attempt's bytes, as in HttpClient::send.
  Number send(HttpRequest request, HttpClient::Done done, std::function<HttpClient::Bytes()> new_bytes = {});
  void cancel(Number request);
  bool is_gone() const;
  QueueFigures figures() const;

 private:
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace agon::net
