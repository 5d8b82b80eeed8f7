#include "serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace agon::serve {
namespace {

constexpr std::array<double, 15> kBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                         0.5,   1,      2.5,   5,    10,    30,   60};  // seconds

std::string one_value(const char* name, const char* type, const char* help, std::int64_t value) {
  return fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n{0} {3}\n", name, type, help, value);
}

}  // namespace

void Metrics::Histogram::add(double seconds) {
  ++counts[static_cast<std::size_t>(std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin())];
  ++count;
  sum += seconds;
}

void Metrics::count_request(const std::string& route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  request_seconds_.add(seconds);
}

void Metrics::count_refused(int status) {
  const std::lock_guard lock(mutex_);
  ++requests_[{"refused", status}];
}

void Metrics::count_tokens(std::int64_t prompt, std::int64_t cached, std::int64_t generated) {
  const std::lock_guard lock(mutex_);
  prompt_tokens_ += prompt;
  cached_tokens_ += cached;
  generated_tokens_ += generated;
}

void Metrics::time_first_token(double seconds) {
  const std::lock_guard lock(mutex_);
  first_token_seconds_.add(seconds);
}

void Metrics::time_each_token(double seconds) {
  const std::lock_guard lock(mutex_);
  token_seconds_.add(seconds);
}

void Metrics::count_cancelled() {
  const std::lock_guard lock(mutex_);
  ++cancelled_;
}

std::string Metrics::histogram_text(const char* name, const char* help, const Histogram& histogram) {
  std::string text = fmt::format("# HELP {0} {1}\n# TYPE {0} histogram\n", name, help);
  std::int64_t below = 0;
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    below += histogram.counts[i];
    text += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", name, kBounds[i], below);
  }
  text +=
      fmt::format("{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2}\n{0}_count {1}\n", name, histogram.count, histogram.sum);
  return text;
}

std::string Metrics::text(const Moment& moment) const {
  const std::lock_guard lock(mutex_);
  std::string text = "# HELP agon_requests_total Requests answered\n# TYPE agon_requests_total counter\n";
  for (const auto& [key, count] : requests_)
    text += fmt::format("agon_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  text += one_value("agon_requests_running", "gauge", "Requests being worked on", moment.requests_working);
  text += one_value("agon_requests_waiting", "gauge", "Requests that wait for a worker", moment.requests_waiting);
  text += one_value("agon_batch_sequences", "gauge", "Sequences that are decoded together", moment.sequences_running);
  text += one_value("agon_waiting_sequences", "gauge", "Sequences that wait for the batch", moment.sequences_waiting);
  text += one_value("agon_cancelled_requests_total", "counter",
                    "Requests that were stopped: the client has gone, or the server stops", cancelled_);
  text += one_value("agon_prompt_tokens_total", "counter", "Tokens of prompts", prompt_tokens_);
  text += one_value("agon_cached_prompt_tokens_total", "counter", "Of these, found in the cache", cached_tokens_);
  text += one_value("agon_generation_tokens_total", "counter", "Tokens written", generated_tokens_);
  text += histogram_text("agon_request_seconds", "From the last byte of a request to its answer", request_seconds_);
  text += histogram_text("agon_time_to_first_token_seconds", "From the last byte of a request", first_token_seconds_);
  text += histogram_text("agon_time_per_token_seconds", "Mean of a request after its first token", token_seconds_);
  return text;
}

}  // namespace agon::serve
