#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <ctime>
#include <string_view>

namespace agon::cli {
namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);
std::atomic<double> stopped_at = 0;  // seconds of the monotonic clock
static_assert(std::atomic<double>::is_always_lock_free);

double monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A program between the terminal and agon (timeout, a container's init) may forward one signal twice.
constexpr double kSameRequestSeconds = 0.5;

void request_stop(int signal) {
  if (!stop) {
    stopped_at = monotonic_seconds();
    stop = true;
    constexpr std::string_view kWord = "\nagon: stopping at the next safe point; Ctrl-C again stops at once\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kWord.data(), kWord.size());
  } else if (monotonic_seconds() - stopped_at > kSameRequestSeconds) {
    std::signal(signal, SIG_DFL);
    ::raise(signal);
  }
}

}  // namespace

void watch_interrupts() {
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
}

const std::atomic<bool>& interrupted() { return stop; }

}  // namespace agon::cli
