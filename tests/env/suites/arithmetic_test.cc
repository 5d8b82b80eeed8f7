#include "env/suites/arithmetic/task.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "effort.h"
#include "env/kit/suite_task.h"
#include "env/suite.h"
#include "golden/text.h"
#include "suite_checks.h"

namespace agon::env {

TEST_CASE("arithmetic: demonstrations are right and earn the reward, corruptions are wrong") {
  test::check_demonstrations_and_corruptions("arithmetic", test::rounds(700), 0.99, 5);
}

TEST_CASE("arithmetic: the same tasks on every thread") { test::check_determinism("arithmetic"); }

TEST_CASE("arithmetic: bad turns") { test::check_bad_turns("arithmetic"); }

TEST_CASE("arithmetic: golden tasks") {
  test::check_golden_text("suites/arithmetic.txt", test::describe_tasks("arithmetic"));
}

TEST_CASE("arithmetic: the splits are disjoint, and no number is negative") {
  std::set<std::string> contents;
  for (const Split split : {Split::test, Split::train})
    for (int level = 1; level <= kArithmeticLevels; ++level)
      for (std::uint64_t i = 0; i < kTestTasks; ++i) {
        Rng rng = task_stream("arithmetic", level, {split, i, 1});
        const ArithmeticTask task = draw_task(
            rng, split, [&](Rng& stream) { return draw_arithmetic_task(level, stream); },
            [](const ArithmeticTask& drawn) { return drawn.expression(); });
        INFO(task.expression());
        ArithmeticTask so_far{{}, task.first, {}};
        for (const Operation& operation : task.operations) {
          so_far.operations.push_back(operation);
          REQUIRE(operation.number > 0);
          REQUIRE(so_far.result() >= 0);
        }
        REQUIRE(std::ssize(task.operations) == std::max(1, level - 1));
        if (split == Split::test) contents.insert(task.expression());
        if (split == Split::train) REQUIRE_FALSE(contents.contains(task.expression()));
      }
  CHECK(contents.size() > 2400);
}

TEST_CASE("arithmetic: the order of operations is written") {
  const ArithmeticTask task{"product", 17, {{'+', 25}, {'*', 3}, {'-', 8}}};
  CHECK(task.expression() == "(17 + 25) * 3 - 8");
  CHECK(task.result() == 118);
  CHECK(solve_arithmetic(task) ==
        std::vector<std::string>{"17 + 25 = 42", "42 * 3 = 126", "126 - 8 = 118", "<answer>118</answer>"});
}

TEST_CASE("arithmetic: equations are read as people write them") {
  for (const char* text : {"17 + 25 = 42", "17+25=42", " 17 + 25 = 42. "}) {
    const auto equation = parse_equation(text);
    REQUIRE(equation);
    CHECK(to_string(*equation) == "17 + 25 = 42");
  }
  for (const char* text : {"6 x 7 = 42", "6 × 7 = 42", "6*7=42", "6 · 7 = 42"})
    CHECK(to_string(parse_equation(text).value()) == "6 * 7 = 42");
  CHECK(to_string(parse_equation("3 − 5 = -2").value()) == "3 - 5 = -2");
  for (const char* text : {"", "17", "17 + 25", "17 + 25 =", "17 + 25 = 42 = 42", "a + b = c", "17 / 25 = 0",
                           "1234567 + 1 = 1234568", "17 + 25 = forty", "so 17 + 25 = 42"})
    CHECK_FALSE(parse_equation(text));
}

TEST_CASE("arithmetic: a step is judged by what the turn said before it") {
  const ArithmeticTask task{"two_operations", 17, {{'+', 25}, {'-', 8}}};
  const auto is_right = [&](const char* before, const char* step) {
    const auto label = check_arithmetic_step(task, {before, step});
    return label ? std::optional(label->correct) : std::nullopt;
  };
  CHECK(is_right("", "17 + 25 = 42") == true);
  CHECK(is_right("", "25 + 17 = 42") == true);
  CHECK(is_right("", "17 + 25 = 41") == false);
  CHECK(is_right("", "17 - 25 = -8") == false);
  CHECK(is_right("17 + 25 = 41\n\n", "41 - 8 = 33") == true);  // it follows from the wrong step
  CHECK(is_right("17 + 25 = 42\n\n", "8 - 42 = 34") == false);
  CHECK(is_right("17 + 25 = 42\n\n42 - 8 = 34\n\n", "<answer>34</answer>") == true);
  CHECK(is_right("17 + 25 = 41\n\n41 - 8 = 33\n\n", "<answer>33</answer>") == false);
  CHECK(is_right("17 + 25 = 42\n\n42 - 8 = 34\n\n", "34 + 0 = 34") == std::nullopt);
  CHECK(is_right("", "I add them.") == std::nullopt);
}

}  // namespace agon::env
