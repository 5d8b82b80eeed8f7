#include "env/wrappers/role.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "check_env.h"
#include "core/error.h"
#include "effort.h"
#include "env/wrappers/two_turn.h"

using namespace agon;
using namespace agon::env;
using Catch::Contains;

namespace {

const std::vector<std::string> kSuites = {"charts", "shapes"};

struct Started {
  Started(const std::string& suite, const std::string& role, std::uint64_t index, int level = 0,
          const std::string& reexamine = {})
      : env(make_env(suite, {.level = level, .reexamine = reexamine, .role = role})),
        first(env->reset({Split::test, index})) {}
  std::string shown() const { return first.observation.parts.back().text; }
  std::string solution() const { return first.info["first_solution"]; }
  bool correct() const { return first.info["first_correct"]; }

  std::unique_ptr<Env> env;
  StepResult first;
};

Action answer(const std::string& text) { return {"<answer>" + text + "</answer>", {}}; }

}  // namespace

TEST_CASE("roles of every suite with an expert conform, on every level") {
  for (const std::string& suite : kSuites)
    for (const std::string& role : role_names())
      for (int level = 1; level <= Suite(suite).info().levels; ++level)
        for (const std::string& problem : check_env(Suite(suite, {.level = level, .role = role}), test::rounds(12), 7))
          FAIL_CHECK(suite << " " << level << ", " << role << ": " << problem);
}

TEST_CASE("a role shows the task, then a solution, then what is asked of it") {
  for (const std::string& suite : kSuites) {
    const auto solver = make_env(suite);
    const StepResult task = solver->reset({Split::test, 17});
    const Started refiner(suite, "refiner", 17), verifier(suite, "verifier", 17);
    for (const Started* role : {&refiner, &verifier}) {
      REQUIRE(role->first.observation.parts.size() == task.observation.parts.size() + 1);
      CHECK(role->first.observation.parts[0].image == task.observation.parts[0].image);
      CHECK(role->first.observation.parts[1].text == task.observation.parts[1].text);
      CHECK(role->first.info["objects"] == task.info["objects"]);
      CHECK(role->env->task().prompt == solver->task().prompt);
    }
    CHECK(refiner.shown() == "\n\nSolution:\n" + refiner.solution() + "\n\n" + kReexamine);
    CHECK(verifier.shown() == "\n\nSolution:\n" + verifier.solution() + "\n\n" + kVerify);
    CHECK(refiner.solution() == verifier.solution());
    CHECK((refiner.env->task().gold == solver->task().gold));
    CHECK((verifier.env->task().gold == (verifier.correct() ? "yes" : "no")));
  }
  CHECK_THAT(Started("charts", "refiner", 1, 0, "Sure?").shown(), Catch::EndsWith("\n\nSure?"));
}

TEST_CASE("half of the first solutions are right, and first_correct is what the suite says of them") {
  for (const std::string& suite : kSuites)
    for (int level = 1; level <= Suite(suite).info().levels; ++level) {
      CAPTURE(suite, level);
      constexpr int kTasks = test::rounds(600);
      const auto solver = make_env(suite, {.level = level}),
                 verifier = make_env(suite, {.level = level, .role = "verifier"});
      int right = 0;
      for (std::uint64_t i = 0; i < kTasks; ++i) {
        solver->reset({Split::train, i, 3});
        const StepResult first = verifier->reset({Split::train, i, 3});
        const StepResult graded = solver->step({first.info["first_solution"], {}});
        REQUIRE(graded.success == first.info["first_correct"]);
        right += first.info["first_correct"].get<bool>();
      }
      CHECK(std::abs(right - kTasks / 2) < 2 * std::sqrt(kTasks));  // four standard deviations
    }
}

TEST_CASE("every task of the suites with an expert can be got wrong") {
  for (int level = 1; level <= 3; ++level)
    for (std::uint64_t i = 0; i < test::rounds(300); ++i) {
      const auto charts = make_env("charts", {.level = level}), shapes = make_env("shapes", {.level = level});
      for (const auto& env : {&*charts, &*shapes}) {
        env->reset({Split::train, i, 5});
        Rng rng(i);
        const auto mistake = env->mistake(rng);
        CAPTURE(env->task().id, env->task().kind);
        REQUIRE(mistake);
        CHECK(env->step(*mistake).success == false);
        CHECK_FALSE(env->mistake(rng));  // the task has ended
      }
    }
}

TEST_CASE("a refiner is graded as the suite grades, whatever the first solution was") {
  std::set<bool> seen;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const Started right("charts", "refiner", i), wrong("charts", "refiner", i);
    seen.insert(right.correct());
    Rng rng(1);
    const StepResult success = right.env->step(right.env->demonstrate(rng).value().at(0));
    CHECK((success.reward.total == 1 && success.success == true && success.terminated));
    CHECK((success.info["first_correct"] == right.correct()));
    const StepResult failure = wrong.env->step(answer("no such thing"));
    CHECK((failure.reward.total == 0 && failure.success == false && failure.terminated));
    CHECK(wrong.env->step(answer("1")).refused.has_value());
  }
  CHECK(seen.size() == 2);
}

TEST_CASE("a verifier is paid for the right verdict") {
  for (std::uint64_t i = 0; i < 12; ++i) {
    const Started task("shapes", "verifier", i);
    const std::string truth = task.correct() ? "yes" : "no", lie = task.correct() ? "no" : "yes";
    const StepResult right = task.env->fork()->step(answer(" " + truth + "."));
    CHECK((right.reward.total == 1 && right.success == true && right.terminated));
    CHECK((right.reward.components == decltype(right.reward.components){{"accuracy", 1.0}}));
    for (const Action& wrong : {answer(lie), Action{truth, {}}, answer("yes or no"), Action{}}) {
      const StepResult result = task.env->fork()->step(wrong);
      CHECK((result.reward.total == 0 && result.success == false && result.terminated));
    }
    Rng rng(1);
    CHECK(task.env->demonstrate(rng).value().at(0).text == answer(truth).text);
    CHECK_FALSE(task.env->check_step({"", truth}));
    const StepResult refused = task.env->step({"", {{"1", "search", Json::object()}}});
    CHECK((refused.refused.has_value() && !refused.terminated));
  }
}

TEST_CASE("the role is in a task's id, and what the suite says of itself is that of the role") {
  CHECK(Started("charts", "solver", 17, 3).env->task().id == "charts/3/test/17");
  CHECK(Started("charts", "refiner", 17, 3).env->task().id == "charts/3/test/17/refiner");
  CHECK(Started("charts", "verifier", 17, 3).env->task().id == "charts/3/test/17/verifier");
  const SuiteInfo solver = Suite("shapes").info(), refiner = Suite("shapes", {.role = "refiner"}).info(),
                  verifier = Suite("shapes", {.role = "verifier"}).info();
  CHECK((refiner.instructions == solver.instructions && refiner.metric == solver.metric));
  CHECK((verifier.instructions != solver.instructions && verifier.metric == "verdict"));
  CHECK((refiner.max_turns == 1 && verifier.max_turns == 1 && verifier.test_tasks == solver.test_tasks));
}

TEST_CASE("roles that are not there, and suites that have none, are told with what to do") {
  CHECK_THROWS_WITH(Suite("charts", {.role = "verifer"}), Contains("Did you mean 'verifier'?"));
  CHECK_THROWS_WITH(make_env("charts", {.role = ""}), Contains("refiner, sneaky, solver, verifier"));
  CHECK_THROWS_WITH(Suite("phone", {.role = "refiner"}), Contains("up to 10 turns") && Contains("refiner"));
  CHECK_THROWS_WITH(Suite("jsonl", {.role = "verifier"}), Contains("no expert"));
  CHECK_THROWS_WITH(Suite("charts", {.two_turn = true, .role = "refiner"}), Contains("answers once"));
}
