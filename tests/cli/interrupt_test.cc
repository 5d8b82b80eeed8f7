#include "cli/interrupt.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <thread>

using namespace agon::cli;

TEST_CASE("a signal that is passed on twice asks once; a later one ends the process") {
  const pid_t child = ::fork();
  if (child == 0) {
    watch_interrupts();
    ::raise(SIGINT);
    ::raise(SIGINT);
    ::raise(SIGTERM);
    if (!interrupted()) ::_exit(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    ::raise(SIGTERM);
    ::_exit(2);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}
