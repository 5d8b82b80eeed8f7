// serve/metrics.h - counters and histograms of a server's work, as text for Prometheus. Thread-safe. No label and no
// line contains any part of a prompt.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace agon::serve {

class Metrics {
 public:
  void count_request(const std::string& route, int status, double seconds);
  void count_refused(int status);  // by the server itself, before the request reached a route
  void count_tokens(std::int64_t prompt, std::int64_t cached, std::int64_t generated);
  void time_first_token(double seconds);
  void time_each_token(double seconds);  // mean of one request, without its first token
  void count_cancelled();

  // The server's state at the time of a report.
  struct Moment {
    int requests_working = 0, requests_waiting = 0, sequences_running = 0, sequences_waiting = 0;
  };
  std::string text(const Moment& moment) const;

 private:
  struct Histogram {
    std::array<std::int64_t, 16> counts{};  // the last: above all bounds
    std::int64_t count = 0;
    double sum = 0;
    void add(double seconds);
  };
  static std::string histogram_text(const char* name, const char* help, const Histogram& histogram);

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::int64_t> requests_;  // by route and status
  std::int64_t prompt_tokens_ = 0, cached_tokens_ = 0, generated_tokens_ = 0, cancelled_ = 0;
  Histogram request_seconds_, first_token_seconds_, token_seconds_;
};

}  // namespace agon::serve
