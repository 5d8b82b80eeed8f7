#include "tests/sandbox/abuse_runner/neighbour.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <optional>

#include "core/error.h"

namespace agon::sandbox::abuse {
namespace {

constexpr double kEvery = 5, kOpenEvery = 100;  // milliseconds

double at_99(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  return times.empty() ? 0 : times[static_cast<std::size_t>(0.99 * static_cast<double>(times.size() - 1))];
}

// Calls that were due while this one ran count as waiting too.
void add(std::vector<double>& times, double took, double every) {
  for (; took > 0; took -= every) times.push_back(took);
}

template <typename Work>
double milliseconds_of(const Work& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

void Neighbour::start() {
  done_ = false;
  calls_.clear();
  opens_.clear();
  thread_ = std::thread([this] { work(); });
}

void Neighbour::stop() {
  done_ = true;
  thread_.join();
}

double Neighbour::slow_call() { return at_99(calls_); }

double Neighbour::slow_open() { return at_99(opens_); }

void Neighbour::work() try {
  for (int i = 0; !done_; ++i) {
    call();
    if (i % 20 == 10) open();
    std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<int>(kEvery)));
  }
} catch (const Error& error) {
  fault = error.what();
}

void Neighbour::call() {
  Result result;
  add(calls_, milliseconds_of([&] { result = session_.run({.code = "1 + 1", .name = "a.py", .artifacts = {}}); }),
      kEvery);
  if (!result.ok()) fault = fmt::format("its call ended with {} ({})", to_string(result.reason), result.text);
}

void Neighbour::open() {
  std::optional<Session> session;
  add(opens_, milliseconds_of([&] { session.emplace(sandbox_.open()); }), kOpenEvery);
}

double neighbour_slack() {
  const char* factor = std::getenv("AGON_NEIGHBOUR_SLACK");
  return factor ? std::max(1.0, std::atof(factor)) : 1;
}

}  // namespace agon::sandbox::abuse
