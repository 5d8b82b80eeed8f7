#include "core/progress.h"

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>

using namespace agon;

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
  std::cout.flush();  // else the child may print it again
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

TEST_CASE("a bar never wraps a narrow terminal, and its count stays") {
  const std::string output = on_terminal(30);
  CAPTURE(output);
  REQUIRE(output.find("\rcharts: 30/40 episodes\x1b[K") != std::string::npos);
}

TEST_CASE("a line keeps its figures at 80 columns and its count at 40, whatever its label") {
  ProgressParts parts{"run charts", "12345/20000 episodes", "123.4 episodes/s", "3 min 02 s left", "reward 0.61", 0.6};
  CHECK(bar_line(parts, 119) ==
        "run charts: [##############----------] 12345/20000 episodes, 123.4 episodes/s, 3 min 02 s left  reward 0.61");
  CHECK(bar_line(parts, 79) == "run charts: [#####----] 12345/20000 episodes, 123.4 episodes/s, 3 min 02 s left");
  CHECK(bar_line(parts, 39) == "run charts: 12345/20000 episodes");
  parts.label = "eval-critic: generative agon-tiny-critic on darkroom";
  CHECK(bar_line(parts, 79) == "eval-critic: genera...: 12345/20000 episodes, 123.4 episodes/s, 3 min 02 s left");
  CHECK(bar_line(parts, 39) == "eval-critic: g...: 12345/20000 episodes");
  CHECK(bar_line(parts, 24) == "12345/20000 episodes");
  for (std::size_t columns = 1; columns < 140; ++columns) CHECK(bar_line(parts, columns).size() <= columns);
}

TEST_CASE("a line of progress is never cut within a character") {
  const ProgressParts parts{
      "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", "3/4 pages", "", "", "", {}};
  CHECK(bar_line(parts, 24) == "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4...: 3/4 pages");
  CHECK(bar_line(parts, 23) == "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4...: 3/4 pages");
}

TEST_CASE("elsewhere there are plain lines without control characters, the last with the time taken") {
  const std::string output = on_pipe();
  REQUIRE(output.find("charts: 30/40 episodes, ") == 0);
  REQUIRE(output.find(", took 0 s  reward 0.61\n") != std::string::npos);
  REQUIRE(output.find('\x1b') == std::string::npos);
}
