// tests/sandbox/abuse_runner/neighbour.h - another session of the launcher that a case is run on, which must not wait.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/sandbox.h"

namespace agon::sandbox::abuse {

// Another session of the same launcher that works on: how long its calls take, and opens of further ones.
class Neighbour {
 public:
  explicit Neighbour(Sandbox& sandbox) : sandbox_(sandbox), session_(sandbox.open()) {}
  void start();
  void stop();
  double slow_call();  // milliseconds, of 99 in 100
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

// How many times longer a neighbour's calls may take where others use this machine too (tests/CMakeLists.txt).
double neighbour_slack();

}  // namespace agon::sandbox::abuse
