// tests/support/cpu_time.h - measures CPU time, which does not depend on other programs of the machine.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <string>
#include <string_view>

namespace agon::test {

// CPU seconds of this thread while `work` runs.
template <typename Work>
double cpu_seconds_of(const Work& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double begin = now();
  work();
  return now() - begin;
}

// `piece` repeated until the text has at least `bytes`.
inline std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += piece;
  return text;
}

// An error message if the time of `work` on a text of repeated `piece`s grows faster than linearly, else "". Four times
// the bytes may take eight times the time (quadratic work takes sixteen), on any machine. Measures up to three times,
// since a busy machine may slow one side. `work` takes the text.
template <typename Work>
std::string faster_than_linear(std::string_view piece, const Work& work) {
  constexpr std::size_t kShort = AGON_SANITIZED ? 1 << 10 : 1 << 12;
  const std::string small = repeated(piece, kShort);
  const std::string large = repeated(piece, 4 * kShort);
  double short_seconds = 0;
  double long_seconds = 0;
  for (int round = 0; round < 3; ++round) {
    short_seconds = cpu_seconds_of([&] { work(small); });
    long_seconds = cpu_seconds_of([&] { work(large); });
    if (long_seconds < std::max(8 * short_seconds, 0.01)) return "";
  }
  return fmt::format("{} bytes of '{}' take {:.3f} s, {} bytes take {:.3f} s", small.size(), piece, short_seconds,
                     large.size(), long_seconds);
}

}  // namespace agon::test
