#include "cli/interrupt.h"

#include <csignal>

namespace agon::cli {
namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void request_stop(int signal) {
  stop = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_interrupts() {
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
}

const std::atomic<bool>& interrupted() { return stop; }

}  // namespace agon::cli
