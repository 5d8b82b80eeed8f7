#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace agon::cli {
namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void request_stop(int /*signal*/) {
  stop = true;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  constexpr std::string_view kWord = "\nagon: stopping at the next safe point; Ctrl-C again stops at once\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kWord.data(), kWord.size());
}

}  // namespace

void watch_interrupts() {
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
}

const std::atomic<bool>& interrupted() { return stop; }

}  // namespace agon::cli
