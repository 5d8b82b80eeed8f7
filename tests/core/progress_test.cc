#include "core/progress.h"

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>

using agon::Progress;

namespace {

void work() {
  Progress progress("charts", 40, "episodes");
  for (int i = 0; i < 20; ++i) progress.add(1, "reward 0.61");
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  progress.add(10);
}

std::string read_all(int fd) {
  std::string all;
  char buffer[512];
  ssize_t count;
  while ((count = read(fd, buffer, sizeof buffer)) > 0) all.append(buffer, static_cast<std::size_t>(count));
  close(fd);
  return all;
}

// What `work` writes to stderr when that is a terminal of `columns`.
std::string on_terminal(unsigned short columns) {
  winsize size{25, columns, 0, 0};
  int master = -1;
  std::cout.flush();  // or the child may print it again
  std::fflush(stdout);
  const pid_t child = forkpty(&master, nullptr, nullptr, &size);
  REQUIRE(child >= 0);
  if (child == 0) {
    work();
    _exit(0);
  }
  std::string all = read_all(master);
  waitpid(child, nullptr, 0);
  return all;
}

std::string on_pipe() {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const int kept = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  work();
  dup2(kept, STDERR_FILENO);
  close(kept);
  return read_all(ends[0]);
}

}  // namespace

TEST_CASE("on a terminal a bar shows rate and remaining time and is wiped at the end") {
  const std::string output = on_terminal(120);
  CAPTURE(output);
  REQUIRE(output.find("charts: [##################------] 30/40 episodes, ") != std::string::npos);
  REQUIRE(output.find("episodes/s, ") != std::string::npos);
  REQUIRE(output.find(" s left  reward 0.61") != std::string::npos);
  REQUIRE(output.find('\n') == std::string::npos);
  REQUIRE(output.substr(output.size() - 4) == "\r\x1b[K");
}

TEST_CASE("a bar never wraps a narrow terminal") {
  const std::string output = on_terminal(30);
  REQUIRE(output.find("charts: [##################--\x1b") != std::string::npos);
}

TEST_CASE("elsewhere there are plain lines without control characters, the last with the time taken") {
  const std::string output = on_pipe();
  REQUIRE(output.find("charts: 30/40 episodes, ") == 0);
  REQUIRE(output.find(", took 0 s  reward 0.61\n") != std::string::npos);
  REQUIRE(output.find('\x1b') == std::string::npos);
}
