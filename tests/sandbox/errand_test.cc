#include "sandbox/launcher/supervisor/errand.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "sandbox/launcher/sockets.h"

using namespace agon::sandbox::launcher;

namespace {

Errand::Outcome outcome_of(Errand& errand) {
  pollfd done{errand.descriptor(), POLLIN, 0};
  REQUIRE(poll(&done, 1, 10'000) == 1);
  const auto outcome = errand.take();
  REQUIRE(outcome);
  CHECK_FALSE(errand.is_out());
  while (waitpid(-1, nullptr, 0) > 0) {
  }
  return *outcome;
}

}  // namespace

TEST_CASE("an errand brings back what its work gave, or why it failed") {
  Errand good = Errand::start([] { return Errand::Values{6, 7}; });
  CHECK(good.is_out());
  CHECK(outcome_of(good).values == Errand::Values{6, 7});
  Errand bad = Errand::start([]() -> Errand::Values { throw std::system_error(ENOSPC, std::generic_category(), "x"); });
  const Errand::Outcome failed = outcome_of(bad);
  CHECK(failed.error == ENOSPC);
  CHECK(failed.text.starts_with("x"));
  Errand odd = Errand::start([]() -> Errand::Values { throw std::runtime_error("odd"); });
  CHECK(outcome_of(odd).text == "odd");
  Errand killed = Errand::start([]() -> Errand::Values {
    raise(SIGKILL);
    return {};
  });
  CHECK(outcome_of(killed).error == EIO);
}

TEST_CASE("an errand that is dropped ends, and nobody waits for it meanwhile") {
  const auto start = std::chrono::steady_clock::now();
  {
    Errand slow = Errand::start([] {
      std::this_thread::sleep_for(std::chrono::seconds(60));
      return Errand::Values{};
    });
    CHECK_FALSE(slow.take());
  }
  int status = 0;
  REQUIRE(waitpid(-1, &status, 0) > 0);
  CHECK(WIFSIGNALED(status));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}

TEST_CASE("an errand has the descriptors that it needs and no others") {
  const Pipe kept = make_pipe(), closed = make_pipe();
  const auto is_open = [](int descriptor) { return fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0; };
  Errand errand = Errand::start(
      [&] {
        return Errand::Values{is_open(kept.writing.get()), is_open(closed.writing.get())};
      },
      {kept.writing.get()});
  CHECK(outcome_of(errand).values == Errand::Values{1, 0});
  CHECK(is_open(closed.writing.get()) == 1);
}
