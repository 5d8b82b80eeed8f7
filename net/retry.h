// net/retry.h - what happens to a single request when a server answers 429 or 503, or not at all: whether it is sent
// again, how long it waits for that, and what ends it. Many requests to one server, such as those to a model, wait
// together: net/request_queue.h.
//
//   sent again  Whatever may be different next time (worth_another_try): no answer, an answer that breaks off, a
//               timeout, status 429, and every status from 500 on. Other statuses and replies that are too large are
//               final.
//   the wait    What Retry-After asks for, plus a random time from 0 to `backoff_seconds`, doubled after each attempt:
//               clients that were refused together do not come back together.
//   Retry-After Seconds or a date, whatever the status (HttpReply::retry_after). A date that is past, a negative number
//               and anything else count as nothing.
//   the bounds  `attempts` and `seconds`. A wait that would not end in time is not begun: a server that asks for an
//               hour is given up at once.
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

// Sends the request until its reply is final or a bound is reached; the last reply. An attempt may take
// request.seconds, or what is left of the time in all. The request must do no harm if it arrives twice.
HttpReply request_with_retries(HttpRequest request, const RetryOptions& options);

// Attempts at other work than one HttpRequest, under the same rules. Not thread-safe.
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

  // Waits for the next attempt, at least `retry_after` seconds. False: there must be none, for a bound is reached, and
  // then at once, or a stop came.
  bool wait(double retry_after);

 private:
  const RetryOptions options_;
  Rng& rng_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int attempt_ = 0;
};

}  // namespace agon::net
