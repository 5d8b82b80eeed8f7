// tests/support/soon.h - waits for events that should happen soon.
#pragma once

#include <chrono>
#include <thread>

namespace agon::test {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
// An event that takes about a second, or half a minute or more if something is wrong, has this long on a busy machine.
inline constexpr double kSoon = AGON_SANITIZED ? 60 : 10;  // seconds

// Waits until `holds` returns true. False: it did not in time.
bool comes_soon(const auto& holds, double seconds = kSoon) {
  const auto start = Clock::now();
  while (!holds()) {
    if (seconds_since(start) > seconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace agon::test
