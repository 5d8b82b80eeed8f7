// tests/sandbox/abuse_runner/highest.h - measures how far a figure rises.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

namespace agon::sandbox::abuse {

// Samples a figure as long as it lives; end() returns its highest rise above the first value.
class Highest {
 public:
  explicit Highest(std::function<double()> measure) : measure_(std::move(measure)), first_(measure_()) {
    thread_ = std::thread([this] {
      for (; !done_; std::this_thread::sleep_for(std::chrono::milliseconds(5)))
        highest_ = std::max(highest_, measure_() - first_);
    });
  }
  double end() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
    return highest_;
  }
  ~Highest() { end(); }

 private:
  std::function<double()> measure_;
  double first_, highest_ = 0;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace agon::sandbox::abuse
