// Env steps per second of the suite charts, drawing of pictures included: for one Env, for VectorEnv with all envs
// stepped at once, and for VectorEnv that returns the envs that finish first. Every step answers a task and starts the
// next (autoreset same_step). The same env in Python: benchmarks/peers/gym_charts.py; both side by side:
// benchmarks/peers/compare_env_steps.
//   env_steps [--envs N] [--threads N] [--seconds S] [--json]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/json.h"
#include "env/suite.h"
#include "env/vector_env.h"

namespace {

using namespace agon;
using Clock = std::chrono::steady_clock;

struct Options {
  int envs = 32, threads = 0;
  double seconds = 2;
  bool json = false;
};

const env::Action kAnswer{"red is 4\n\nblue is 3\n\n4 + 3 = 7\n\n<answer>7</answer>", {}};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Steps per second of `round`, which takes steps and returns how many. A tenth of the time is warm-up.
double rate(double seconds, const std::function<std::int64_t()>& round) {
  for (const auto start = Clock::now(); seconds_since(start) < seconds / 10;) round();
  std::int64_t steps = 0;
  const auto start = Clock::now();
  while (seconds_since(start) < seconds) steps += round();
  return static_cast<double>(steps) / seconds_since(start);
}

double single(const Options& options) {
  const auto env = env::make_env("charts");
  std::uint64_t index = 0;
  env->reset({env::Split::train, index++});
  return rate(options.seconds, [&] {
    for (int i = 0; i < 64; ++i) {
      env->step(kAnswer);
      env->reset({env::Split::train, index++});
    }
    return 64;
  });
}

env::VectorOptions vector_options(const Options& options, int batch) {
  return {.num_envs = options.envs,
          .batch_size = batch,
          .threads = options.threads,
          .autoreset = env::Autoreset::same_step};
}

double synchronous(const Options& options) {
  env::VectorEnv envs(env::Suite("charts"), vector_options(options, 0));
  envs.reset();
  const std::vector<env::Action> actions(static_cast<std::size_t>(options.envs), kAnswer);
  return rate(options.seconds, [&] { return static_cast<std::int64_t>(envs.step(actions).size()); });
}

double first_finished(const Options& options) {
  env::VectorEnv envs(env::Suite("charts"), vector_options(options, std::max(1, options.envs / 2)));
  envs.async_reset();
  return rate(options.seconds, [&] {
    const auto steps = envs.recv();
    for (const env::VectorStep& step : steps) envs.send(step.env_id, kAnswer);
    return static_cast<std::int64_t>(steps.size());
  });
}

std::string machine() {
  std::ifstream cpu("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpu, line))
    if (line.starts_with("model name")) break;
  const std::size_t colon = line.find(": ");
  const std::string model = colon == line.npos ? "unknown CPU" : line.substr(colon + 2);
  return fmt::format("{}, {} cores", model, std::thread::hardware_concurrency());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Env steps a second of the suite charts, pictures drawn");
  app.add_option("--envs", options.envs, "envs stepped together")->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "0: one a core")->check(CLI::NonNegativeNumber);
  app.add_option("--seconds", options.seconds, "of each measurement")->check(CLI::PositiveNumber);
  app.add_flag("--json", options.json, "one JSON object instead of the table");
  CLI11_PARSE(app, argc, argv);

  const Json figures = {{"machine", machine()},
                        {"envs", options.envs},
                        {"single", single(options)},
                        {"sync", synchronous(options)},
                        {"async", first_finished(options)}};
  if (options.json) {
    fmt::print("{}\n", figures.dump());
    return 0;
  }
  fmt::print("charts, {} envs, {}\n", options.envs, figures["machine"].get<std::string>());
  for (const char* way : {"single", "sync", "async"})
    fmt::print("  {:<7}{:>12.0f} steps/s\n", way, figures[way].get<double>());
}
