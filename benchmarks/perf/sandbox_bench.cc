// Cost of a sandbox session: opening, forking, calling, jobs per second, and memory when idle.
// benchmarks/peers/compare_sandbox compares it with other programs.
//   sandbox_bench [ROUNDS]    prints one JSON object; times in milliseconds
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include "core/error.h"
#include "core/json.h"
#include "sandbox/sandbox.h"

namespace {

using namespace agon;
using namespace agon::sandbox;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// In milliseconds.
template <typename Work>
double time_of(const Work& work) {
  const auto start = Clock::now();
  work();
  return milliseconds_since(start);
}

// `work` returns how long it took, so its set-up is not counted.
Json percentiles(int rounds, const std::function<double()>& work) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) times.push_back(work());
  std::sort(times.begin(), times.end());
  return {{"p50", times[times.size() / 2]}, {"p99", times[times.size() * 99 / 100]}, {"rounds", rounds}};
}

void expect_ok(const Result& result) {
  if (result.reason != Reason::ok) throw Error("a call ended with {}: {}", to_string(result.reason), result.text);
}

double open_session(Sandbox& sandbox) {
  std::optional<Session> session;
  const double took = time_of([&] { session = sandbox.open(); });
  expect_ok(session->run({.code = "import numpy, cv2"}));
  return took;
}

double call(Session& session) {
  return time_of([&] { expect_ok(session.run({.code = "1+1"})); });
}

constexpr const char* kFiftyMegabytes = R"(
import numpy
table = {str(i): i for i in range(100_000)}
picture = numpy.random.default_rng(0).integers(0, 256, 40_000_000, dtype=numpy.uint8)
)";

double fork_once(Session& session) {
  std::optional<Session> copy;
  const double took = time_of([&] { copy = session.fork(); });
  expect_ok(copy->run({.code = "picture[0] += 1"}));
  return took;
}

double cells_again(Sandbox& sandbox) {
  Session session = sandbox.open();
  return time_of([&] { expect_ok(session.run({.code = kFiftyMegabytes})); });
}

// Each job has its own session.
double jobs_per_second(Sandbox& sandbox, int jobs) {
  const auto start = Clock::now();
  const auto work = [&] {
    for (int i = 0; i < jobs / 2; ++i) expect_ok(sandbox.open().run({.code = "print(sum(range(100)))"}));
  };
  { const std::jthread first(work), second(work); }
  return 1e3 * (jobs / 2 * 2) / milliseconds_since(start);
}

// Bytes of the process and its descendants, with shared memory divided among its users (PSS).
double memory_of(int process) {
  double bytes = 0;
  std::ifstream rollup(fmt::format("/proc/{}/smaps_rollup", process));
  for (std::string word; rollup >> word;)
    if (double kilobytes = 0; word == "Pss:" && rollup >> kilobytes) bytes += 1024 * kilobytes;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
    std::ifstream children(thread.path() / "children");
    for (int child = 0; children >> child;) bytes += memory_of(child);
  }
  return bytes;
}

double idle_megabytes(Sandbox& sandbox) {
  constexpr int kSessions = 20;
  const auto settle = [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };  // spares get ready
  settle();
  const double before = memory_of(sandbox.process());
  std::vector<Session> sessions;
  for (int i = 0; i < kSessions; ++i) expect_ok(sessions.emplace_back(sandbox.open()).run({.code = "x = 1"}));
  settle();
  return (memory_of(sandbox.process()) - before) / kSessions / 1e6;
}

}  // namespace

int main(int count, char** words) try {
  const int rounds = count > 1 ? std::atoi(words[1]) : 300;
  if (rounds < 2) throw Error("usage: sandbox_bench [ROUNDS], at least 2; not '{}'", words[1]);
  const auto start = Clock::now();
  SandboxConfig config;
  config.launcher = AGON_LAUNCHER;
  Sandbox sandbox(config);
  Json figures{{"tier", to_string(sandbox.tier())}, {"start_ms", milliseconds_since(start)}};
  figures["open_ms"] = percentiles(rounds, [&] { return open_session(sandbox); });
  Session session = sandbox.open();
  figures["call_ms"] = percentiles(10 * rounds, [&] { return call(session); });
  expect_ok(session.run({.code = kFiftyMegabytes}));
  figures["fork_50_mb_ms"] = percentiles(rounds / 3, [&] { return fork_once(session); });
  figures["cells_again_ms"] = percentiles(std::max(1, rounds / 30), [&] { return cells_again(sandbox); });
  figures["jobs_per_second"] = jobs_per_second(sandbox, 2 * rounds);
  figures["idle_session_mb"] = idle_megabytes(sandbox);
  fmt::print("{}\n", figures.dump(2));
} catch (const std::exception& error) {
  fmt::print(stderr, "sandbox_bench: {}\n", error.what());
  return 1;
}
