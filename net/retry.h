// net/retry.h - retries a single request when a server answers 429 or 503, or not at all: when it is sent again, how
// long it waits, and what ends it. For many requests to one server, such as a model's, see net/request_queue.h.
//
//   sent again  After a fault that may pass (worth_another_try): no answer, an answer that breaks off, a timeout,
//               status 429, and every status from 500 on. Other statuses and replies that are too large are final.
//   the wait    The time in Retry-After, plus a random time from 0 to `backoff_seconds`, doubled after each attempt, so
//               that clients that were refused together do not return together.
//   Retry-After Seconds or a date, with any status (HttpReply::retry_after). A past date, a negative number and any
//               other value count as 0.
//   the bounds  `attempts` and `seconds`. A wait that would not end in time is not begun: if a server asks for an hour,
//               the request fails at once.
//   the stop    HttpStop of the thread ends a wait at once, and nothing is sent after it.
#pragma once

#include <chrono>

#include "core/rng.h"
#include "net/http_client.h"

namespace agon::net {

struct RetryOptions {
  int attempts = 3;              // in all, the first included; at least one is made
  double backoff_seconds = 0.5;  // the random part of the first wait is drawn from 0 to this
  double seconds = 60;           // from the start of the first attempt to the end of the last
};

bool worth_another_try(const HttpReply& reply);

// Sends the request until its reply is final or a bound is reached; returns the last reply. An attempt may take
// request.seconds, but not more than is left of the total time. The request must do no harm if it arrives twice.
HttpReply request_with_retries(HttpRequest request, const RetryOptions& options);

// Attempts at work other than one HttpRequest, under the same rules. Not thread-safe.
//   Retries retries(options, rng);
//   do result = work(retries.seconds_left());
//   while (result.may_pass && retries.wait(result.retry_after));
class Retries {
 public:
  // The first attempt begins now. The random part of the waits is drawn from `rng`, which must outlive the object.
  Retries(const RetryOptions& options, Rng& rng) : options_(options), rng_(rng) {}

  int attempt() const { return attempt_; }  // the number of the current attempt, from 0
  double seconds() const;                   // since the start
  double seconds_left() const { return options_.seconds - seconds(); }

  // Waits for the next attempt, at least `retry_after` seconds. False: there must be no further attempt, because a
  // bound is reached (then it returns at once) or a stop came.
  bool wait(double retry_after);

 private:
  const RetryOptions options_;
  Rng& rng_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int attempt_ = 0;
};

}  // namespace agon::net
