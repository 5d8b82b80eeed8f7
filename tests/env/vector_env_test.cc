#include "env/vector_env.h"

#include <catch2/catch.hpp>
#include <future>
#include <set>

#include "core/error.h"
#include "toy_env.h"

using namespace agon;
using namespace agon::env;
using Catch::Contains;

namespace {

const EnvFactory kToy = [] { return std::make_unique<ToyEnv>(); };

// A toy env whose step waits for a gate, so that a test decides which env finishes first.
struct Gates {
  std::vector<std::promise<void>> open;
  std::vector<std::shared_future<void>> wait;
  explicit Gates(std::size_t count) : open(count) {
    for (auto& gate : open) wait.push_back(gate.get_future().share());
  }
};
class GatedEnv final : public ToyEnv {
 public:
  explicit GatedEnv(std::shared_future<void> gate) : gate_(std::move(gate)) {}
  StepResult step(const Action& action) override {
    gate_.wait();
    return ToyEnv::step(action);
  }

 private:
  std::shared_future<void> gate_;
};

// The answer of env `id` in round `round`: right in every second round, else wrong.
Action action_of(int id, int round, const TaskInfo& task) {
  const std::string gold = task.gold.is_string() ? task.gold.get<std::string>() : "";
  return {"<answer>" + ((id + round) % 2 ? gold : "0") + "</answer>", {}};
}

std::string whole_step(const StepResult& result) {
  std::string text = std::to_string(result.reward.total) + (result.terminated ? " end" : "") +
                     (result.truncated ? " cut" : "") + " " + to_json(result).dump();
  for (const Part& part : result.observation.parts) text += " " + part.text;
  return text;
}

// The results of a plain loop over the same envs, in the form of text_of, final steps included.
std::vector<std::string> plain_loop(const VectorOptions& options, int rounds) {
  std::vector<std::string> lines;
  const auto count = static_cast<std::size_t>(options.num_envs);
  std::vector<ToyEnv> envs(count);
  std::vector<std::uint64_t> next(count);
  std::vector<bool> over(count);
  const auto start = [&](std::size_t i) {
    std::uint64_t index = i + count * next[i]++;
    if (options.split == Split::test) index %= kToyTasks;
    return envs[i].reset({options.split, index, options.seed});
  };
  for (std::size_t i = 0; i < count; ++i) lines.push_back(whole_step(start(i)));
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < count; ++i) {
      if (over[i] && options.autoreset != Autoreset::same_step) {
        over[i] = false;
        lines.push_back(whole_step(start(i)));
        continue;
      }
      StepResult result = envs[i].step(action_of(int(i), round, envs[i].task()));
      over[i] = result.terminated || result.truncated;
      if (over[i] && options.autoreset == Autoreset::same_step) {
        const std::string last = whole_step(result);
        StepResult first = start(i);
        first.reward = result.reward;
        first.terminated = result.terminated;
        first.truncated = result.truncated;
        lines.push_back(whole_step(first) + " | " + last);
      } else {
        lines.push_back(whole_step(result));
      }
    }
  return lines;
}

// The same through VectorEnv. The policy reads the task from its number, as plain_loop does from the env.
std::vector<std::string> vectored(const VectorOptions& options, int rounds) {
  std::vector<std::string> lines;
  VectorEnv envs(kToy, kToyTasks, options);
  const auto count = static_cast<std::size_t>(options.num_envs);
  std::vector<std::uint64_t> next(count);
  std::vector<TaskInfo> tasks(count);
  const auto began = [&](std::size_t i) {
    std::uint64_t index = i + count * next[i]++;
    if (options.split == Split::test) index %= kToyTasks;
    tasks[i].gold = std::to_string(index + (options.split == Split::test ? 1 : 1001));
  };
  const auto note = [&](const VectorStep& step) {
    lines.push_back(whole_step(step.result) + (step.final ? " | " + whole_step(*step.final) : ""));
  };
  for (const VectorStep& step : envs.reset()) {
    REQUIRE(step.env_id == int(lines.size()));
    began(lines.size());
    note(step);
  }
  std::vector<bool> over(count);
  for (int round = 0; round < rounds; ++round) {
    if (options.autoreset == Autoreset::disabled) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::vector<int> one{int(i)};
        if (over[i]) began(i);
        if (over[i]) {
          note(envs.reset(one)[0]);
        } else {
          envs.send(int(i), action_of(int(i), round, tasks[i]));
          const auto got = envs.recv();
          note(got[0]);
          over[i] = got[0].result.terminated || got[0].result.truncated;
          continue;
        }
        over[i] = false;
      }
      continue;
    }
    std::vector<Action> actions;
    for (std::size_t i = 0; i < count; ++i) actions.push_back(action_of(int(i), round, tasks[i]));
    for (const VectorStep& step : envs.step(std::move(actions))) {
      const auto i = static_cast<std::size_t>(step.env_id);
      note(step);
      if (options.autoreset == Autoreset::next_step && over[i]) began(i);
      const bool end = step.result.terminated || step.result.truncated;
      if (options.autoreset == Autoreset::same_step && end) began(i);
      over[i] = end;
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("stepping many envs equals a plain loop, whatever the number of threads") {
  for (const Autoreset mode : {Autoreset::next_step, Autoreset::same_step, Autoreset::disabled})
    for (const Split split : {Split::train, Split::test})
      for (const int threads : {1, 8}) {
        INFO("mode " << int(mode) << ", split " << to_string(split) << ", threads " << threads);
        VectorOptions options{.num_envs = 5, .threads = threads, .autoreset = mode, .split = split, .seed = 3};
        if (mode == Autoreset::disabled) options.batch_size = 1;
        CHECK(vectored(options, 12) == plain_loop(options, 12));
      }
}

TEST_CASE("recv gives the first to finish") {
  Gates gates(4);
  std::size_t made = 0;
  VectorEnv envs([&] { return std::make_unique<GatedEnv>(gates.wait[made++]); }, kToyTasks,
                 {.num_envs = 4, .batch_size = 2, .threads = 4});
  envs.async_reset();
  std::set<int> started;
  for (int i = 0; i < 2; ++i)
    for (const VectorStep& step : envs.recv()) started.insert(step.env_id);
  CHECK(started.size() == 4);
  for (int i = 0; i < 4; ++i) envs.send(i, {"<answer>0</answer>", {}});
  const auto finishes = [&](std::size_t first, std::size_t second) {
    gates.open[first].set_value();
    gates.open[second].set_value();
    std::set<int> ids;
    for (const VectorStep& step : envs.recv()) ids.insert(step.env_id);
    return ids == std::set<int>{int(first), int(second)};
  };
  CHECK(finishes(3, 1));
  envs.send(3, {"<answer>0</answer>", {}});  // its gate is open
  gates.open[0].set_value();
  std::set<int> ids;
  for (const VectorStep& step : envs.recv()) ids.insert(step.env_id);
  CHECK(ids == std::set<int>{0, 3});
  gates.open[2].set_value();
}

TEST_CASE("envs in flight end with the VectorEnv") {
  VectorEnv envs(kToy, kToyTasks, {.num_envs = 64, .threads = 4});
  envs.async_reset();
}

TEST_CASE("misuse is an Error and changes nothing") {
  VectorEnv envs(kToy, kToyTasks, {.num_envs = 2, .threads = 2});
  CHECK_THROWS_WITH(envs.step({{}, {}}), Contains("reset it first"));
  CHECK_THROWS_WITH(envs.recv(), Contains("2 results wanted, 0 envs in flight"));
  envs.reset();
  CHECK_THROWS_WITH(envs.step({{}}), Contains("1 actions for 2 envs"));
  CHECK_THROWS_WITH(envs.send(2, {}), Contains("no env 2"));
  CHECK_THROWS_WITH(envs.send(-1, {}), Contains("no env -1"));
  const std::vector<int> twice{1, 1};
  CHECK_THROWS_WITH(envs.reset(twice), Contains("twice"));
  envs.send(1, {"<answer>2</answer>", {}});
  CHECK_THROWS_WITH(envs.send(1, {}), Contains("in flight"));
  CHECK_THROWS_WITH(envs.step({{}, {}}), Contains("in flight"));
  CHECK_THROWS_WITH(envs.reset(), Contains("in flight"));
  CHECK_THROWS_WITH(envs.recv(), Contains("2 results wanted, 1 envs in flight"));
  envs.send(0, {"<answer>0</answer>", {}});
  CHECK(envs.recv().size() == 2);

  CHECK_THROWS_WITH(VectorEnv(kToy, 1, {.num_envs = 0}), Contains("num_envs is 0"));
  CHECK_THROWS_WITH(VectorEnv(kToy, 1, {.num_envs = 2, .batch_size = 3}), Contains("batch_size is 3"));
  CHECK_THROWS_WITH(VectorEnv(kToy, 1, {.threads = -1}), Contains("threads is -1"));
  CHECK_THROWS_WITH(VectorEnv(kToy, 0, {.split = Split::test}), Contains("no tasks"));
}

TEST_CASE("an env that throws is told with its number, the others go on") {
  VectorEnv envs([] { return std::make_unique<ToyEnv>(Fault::throws); }, kToyTasks, {.num_envs = 3, .threads = 2});
  envs.reset();
  const Action empty, wrong{"<answer>0</answer>", {}};
  CHECK_THROWS_WITH(envs.step({wrong, empty, wrong}), Contains("env 1") && Contains("nothing written"));
  CHECK_THROWS_WITH(envs.step({wrong, wrong, wrong}), Contains("env 1 has no task"));
  const std::vector<int> failed{1};
  CHECK(envs.reset(failed)[0].env_id == 1);
  CHECK(envs.step({wrong, wrong, wrong}).size() == 3);

  envs.send(0, wrong);
  envs.send(1, empty);
  envs.send(2, wrong);
  CHECK_THROWS_WITH(envs.recv(), Contains("env 1"));
  const std::vector<int> again{1};
  CHECK_THROWS_WITH(envs.reset(again), Contains("in flight"));  // 0 and 2 have results to receive
  CHECK_THROWS_WITH(envs.recv(), Contains("3 results wanted, 2"));
}
