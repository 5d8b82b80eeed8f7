// cli/interrupt.h - Ctrl-C as a request to stop at the next safe point; a second one, half a second later or more, ends
// the process at once.
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace agon::cli {

// Thrown by a long command that stopped on request; the message says how to resume. main() prints it and exits with
// 130.
struct Interrupted : std::runtime_error {
  explicit Interrupted(const std::string& what) : std::runtime_error(what) {}
};

void watch_interrupts();  // from here on SIGINT and SIGTERM set interrupted()
const std::atomic<bool>& interrupted();

}  // namespace agon::cli
