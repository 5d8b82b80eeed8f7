#include "net/retry.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace agon::net {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// False: a stop came first.
bool sleep_unless_stopped(double seconds) {
  constexpr Seconds kLookEvery(0.02);
  const auto end = Clock::now() + Seconds(seconds);
  while (!HttpStop::is_set()) {
    const Seconds left = end - Clock::now();
    if (left <= Seconds(0)) return true;
    std::this_thread::sleep_for(std::min(left, kLookEvery));
  }
  return false;
}

}  // namespace

bool worth_another_try(const HttpReply& reply) {
  if (!reply.fault.empty()) return !reply.too_large && !reply.stopped;
  return reply.status == 429 || reply.status >= 500;
}

HttpReply request_with_retries(HttpRequest request, const RetryOptions& options) {
  Rng rng = Rng::derive(0, "http retries", request.body ? *request.body : request.url);
  Retries retries(options, rng);
  const double seconds = request.seconds;
  while (true) {
    request.seconds = std::min(seconds, retries.seconds_left());
    HttpReply reply = http_request(request);
    if (!worth_another_try(reply) || !retries.wait(reply.retry_after)) return reply;
  }
}

double Retries::seconds() const { return Seconds(Clock::now() - start_).count(); }

bool Retries::wait(double retry_after) {
  if (attempt_ + 1 >= options_.attempts) return false;
  const double wait = retry_after + rng_.uniform() * options_.backoff_seconds * std::exp2(attempt_);
  if (wait >= seconds_left() || !sleep_unless_stopped(wait)) return false;
  ++attempt_;
  return true;
}

}  // namespace agon::net
