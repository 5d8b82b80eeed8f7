// tests/support/cpu_time.h - what something takes of the processor, whoever else is at work.
#pragma once

#include <cstddef>
#include <ctime>

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

// The bytes that a text is given to show that work on it is not in the square of them: a sanitizer takes many times
// longer.
constexpr std::size_t kLongText = AGON_SANITIZED ? 1 << 12 : 1 << 15;

}  // namespace agon::test
