// tests/support/soon.h - how long a test waits for what must come soon.
#pragma once

#include <chrono>
#include <thread>

namespace agon::test {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
// What would take half a minute or more if it failed takes about a second; the machine may be busy.
inline constexpr double kSoon = AGON_SANITIZED ? 60 : 10;  // seconds

// Waits until `holds`; whether it came to hold in time.
bool comes_soon(const auto& holds, double seconds = kSoon) {
  const auto start = Clock::now();
  while (!holds()) {
    if (seconds_since(start) > seconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace agon::test
