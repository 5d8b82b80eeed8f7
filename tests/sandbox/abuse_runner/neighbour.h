// tests/sandbox/abuse_runner/neighbour.h - a second session of a case's launcher, which the case must not slow down.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/sandbox.h"

namespace agon::sandbox::abuse {

// A session that keeps working while a case runs. It measures how long its calls take, and how long new sessions take
// to open.
class Neighbour {
 public:
  explicit Neighbour(Sandbox& sandbox) : sandbox_(sandbox), session_(sandbox.open()) {}
  void start();
  void stop();
  double slow_call();  // 99th percentile, in milliseconds
  double slow_open();
  std::string fault;

 private:
  void work();
  void call();
  void open();

  Sandbox& sandbox_;
  Session session_;
  std::vector<double> calls_, opens_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

// Factor by which a neighbour's calls may take longer on a machine that others use too (tests/CMakeLists.txt).
double neighbour_slack();

}  // namespace agon::sandbox::abuse
