#include "env/wrappers/two_turn.h"
#include "core/file.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "check_env.h"
#include "core/error.h"
#include "env/vector_env.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::env;
using Catch::Contains;

namespace {

const Action kWrong{"<answer>no such thing</answer>", {}};

std::unique_ptr<Env> started(const std::string& suite, const std::string& reexamine = {}) {
  auto env = make_env(suite, {.two_turn = true, .reexamine = reexamine});
  env->reset({Split::test, 17});
  return env;
}

Action right_answer(const Env& env) {
  Rng rng(1);
  return env.demonstrate(rng).value().at(0);
}

}  // namespace

TEST_CASE("a first answer is graded and not told, the second one is the episode's") {
  for (const bool right_first : {false, true})
    for (const bool right_second : {false, true}) {
      CAPTURE(right_first, right_second);
      const auto env = started("charts");
      const Action right = right_answer(*env);
      const StepResult first = env->step(right_first ? right : kWrong);
      CHECK((to_json(first) == Json{{"turn_correct", right_first}, {"turn_reward", right_first ? 1.0 : 0.0}}));
      CHECK((first.reward.total == 0 && !first.terminated && !first.truncated));
      CHECK((first.reward.components == std::vector<std::pair<std::string, double>>{{"accuracy", 0}}));
      REQUIRE(first.observation.parts.size() == 1);
      CHECK(first.observation.parts[0].text == kReexamine);  // whatever the grade
      const StepResult second = env->step(right_second ? right : kWrong);
      CHECK((second.turn_correct == right_second && second.success == right_second));
      CHECK((second.reward.total == (right_second ? 1 : 0) && second.turn_reward == second.reward.total));
      CHECK((second.terminated && second.observation.parts.empty()));
      CHECK(env->step(right).refused.has_value());
    }
}

TEST_CASE("the prompt between the answers can be another") {
  CHECK(started("charts", "Sure?")->step(kWrong).observation.parts.at(0).text == "Sure?");
}

TEST_CASE("a reward between 0 and 1 is kept for both answers") {
  const auto env = started("shapes");
  const Json gold = env->task().gold;
  const double x1 = gold[0], y1 = gold[1], x2 = gold[2], y2 = gold[3];
  const Action half{"<answer>" + Json{x1, y1, x1 + (x2 - x1) / 2, y2}.dump() + "</answer>", {}};
  const StepResult first = env->step(half);
  CHECK(first.turn_reward.value() == Approx(0.5));
  CHECK(first.turn_correct == false);
  CHECK(env->step(right_answer(*env)).turn_correct == true);
}

TEST_CASE("what the suite refuses is no answer: not the first, not the second") {
  const auto env = started("charts");
  const Action with_tool{"<answer>1</answer>", {{"1", "search", Json::object()}}};
  CHECK(env->step(with_tool).refused.has_value());
  const StepResult first = env->step(right_answer(*env));
  CHECK(first.turn_correct.has_value());
  const StepResult refused = env->step(with_tool);
  CHECK((refused.refused.has_value() && !refused.turn_correct.has_value() && !refused.terminated));
  CHECK(env->step(right_answer(*env)).success == true);
  CHECK(make_env("charts", {.two_turn = true})->step(kWrong).refused.has_value());  // before the first reset
}

TEST_CASE("forks between the answers have futures of their own, and a reset begins with the first answer again") {
  const auto env = started("charts");
  const Action right = right_answer(*env);
  env->step(kWrong);
  const auto fork = env->fork();
  CHECK(fork->step(right).success == true);
  CHECK(env->step(kWrong).success == false);
  env->reset({Split::test, 3});
  CHECK_FALSE(env->step(kWrong).terminated);
}

TEST_CASE("the expert answers twice, once more after a first answer, and no more after the second") {
  const auto env = started("charts");
  Rng rng(1);
  const std::vector<Action> actions = env->demonstrate(rng).value();
  REQUIRE(actions.size() == 2);
  CHECK(actions[0].text == actions[1].text);
  env->step(kWrong);
  CHECK(env->demonstrate(rng).value().size() == 1);
  env->step(kWrong);
  CHECK(env->demonstrate(rng).value().empty());
}

TEST_CASE("two turns of a suite: its tasks and their ids, twice the turns") {
  const SuiteInfo once = Suite("charts").info(), twice = Suite("charts", {.two_turn = true}).info();
  CHECK((once.max_turns == 1 && twice.max_turns == 2));
  CHECK((once.instructions == twice.instructions && once.test_tasks == twice.test_tasks));
  const auto one = make_env("charts", {.level = 3}), two = make_env("charts", {.level = 3, .two_turn = true});
  const StepResult a = one->reset({Split::test, 17}), b = two->reset({Split::test, 17});
  CHECK((two->task().id == "charts/3/test/17" && two->task().gold == one->task().gold));
  CHECK((a.observation.parts[0].image == b.observation.parts[0].image && to_json(a) == to_json(b)));
}

TEST_CASE("a suite of several turns has no second answer") {
  CHECK_THROWS_WITH(make_env("phone", {.two_turn = true}), Contains("suite phone") && Contains("up to 10 turns"));
  CHECK_THROWS_WITH(Suite("phone", {.two_turn = true}), Contains("only a single answer can be re-examined"));
}

TEST_CASE("two turns of every suite of one turn conform") {
  const test::TempFolder folder;
  write_file_atomically((folder / "tasks.jsonl").string(),
                        R"({"id": "1", "prompt": "3 + 4?", "answer": 7, "grader": "number"})"
                        "\n");
  for (const std::string& name : suite_names()) {
    const SuiteOptions once{.file = name == "jsonl" ? (folder / "tasks.jsonl").string() : ""};
    if (Suite(name, once).info().max_turns > 1) continue;
    SuiteOptions twice = once;
    twice.two_turn = true;
    for (const std::string& problem : check_env(Suite(name, twice), 4, 7)) FAIL_CHECK(name << ": " << problem);
  }
}

TEST_CASE("a vector of envs plays two turns") {
  VectorEnv envs(Suite("charts", {.two_turn = true}), {.num_envs = 3, .threads = 2, .split = Split::test});
  CHECK(envs.reset().size() == 3);
  for (const VectorStep& step : envs.step({kWrong, kWrong, kWrong})) CHECK_FALSE(step.result.terminated);
  for (const VectorStep& step : envs.step({kWrong, kWrong, kWrong})) CHECK(step.result.terminated);
}
