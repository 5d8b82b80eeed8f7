#include "env/wrappers/critic_role.h"

#include <catch2/catch.hpp>
#include <map>

#include "env/protocol.h"
#include "env/suite.h"
#include "env/verdict.h"
#include "env/wrappers/labelled_steps.h"

using namespace agon;
using namespace agon::env;
using Catch::Contains;

namespace {

std::string parts_text(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts) text += part.is_image() ? "[picture]" : part.text;
  return text;
}

}  // namespace

TEST_CASE("critic: a request has the problem, the partial solution and the last step") {
  const Image picture(1, 1, {1, 2, 3});
  const Message system = Message::of(Role::system, "Solve."), said = Message::of(Role::assistant, "<search>x</search>");
  const Message problem{Role::user, {Part::of(picture), Part::of("How many?")}, {}, {}};
  const Message found = Message::of(Role::user, "<information>y</information>");
  CHECK(parts_text(critic_request(std::vector{system, problem}, "", "one")) ==
        "## Problem\n[picture]How many?\n\n## Partial Solution\nLet's solve this problem.\n\n## Last Step\none");
  CHECK(parts_text(critic_request(std::vector{problem}, "a\n\nb", "c")) ==
        "## Problem\n[picture]How many?\n\n## Partial Solution\na\n\nb\n\n## Last Step\nc");
  const std::string turns = parts_text(critic_request(std::vector{problem, said, found}, "", "c"));
  CHECK(turns ==
        "## Problem\n[picture]How many?\n\n## Partial Solution\n<search>x</search>\n\n<information>y</information>"
        "\n\n## Last Step\nc");
  CHECK_THAT(parts_text(critic_request(std::vector{problem, said, found}, "b", "c")),
             Contains("</information>\n\nb\n\n## Last Step\nc"));
}

TEST_CASE("critic: half the steps shown are right, and the rest are wrong in every way") {
  for (const char* suite : {"charts", "shapes"}) {
    const auto env = make_env(suite, {.role = "critic"});
    const auto solver = make_env(suite);
    std::map<std::string, int> sources;
    for (std::uint64_t index = 0; index < 400; ++index) {
      const StepResult first = env->reset({Split::train, index, 3});
      solver->reset({Split::train, index, 3});
      const bool right = first.info["first_correct"];
      const std::string source = first.info["step_source"];
      ++sources[source];
      CHECK(right == (source == "expert"));
      CHECK((env->task().gold == (right ? "Correct" : "Incorrect")));
      const std::string shown = parts_text(first.observation.parts);
      const std::string step = shown.substr(shown.rfind("## Last Step\n") + 13);
      const std::size_t partial = shown.rfind("## Partial Solution\n") + 20;
      std::string before = shown.substr(partial, shown.rfind("\n\n## Last Step\n") - partial);
      if (before == kNothingYet) before.clear();
      REQUIRE(solver->check_step({before, step}).has_value());
      CHECK(solver->check_step({before, step})->correct == right);
      CHECK(first.observation.parts[0].text == "## Problem\n");
      CHECK(first.observation.parts[1].is_image());
    }
    INFO(suite);
    CHECK(sources["expert"] > 160);
    CHECK(sources["expert"] < 260);
    CHECK(sources.size() >= 4);
  }
}

TEST_CASE("An expert holds what is true against what is said") {
  CHECK(expert_critique("red is 4", "4", true) == "red is 4 = 4\n\n<Answer>Correct</Answer>");
  CHECK(expert_critique("red is 4", "5", false) == "red is 4 < 5\n\n<Answer>Incorrect</Answer>");
  CHECK(expert_critique("<answer>12</answer>", "7", false) == "<answer>12</answer> > 7\n\n<Answer>Incorrect</Answer>");
  CHECK(expert_critique("red is lowest", "blue", false) == "red is lowest != blue\n\n<Answer>Incorrect</Answer>");
  CHECK(expert_critique("3 + 4 = 7", "7", false) == "3 + 4 = 7 != 7\n\n<Answer>Incorrect</Answer>");
}

TEST_CASE("critic: the right verdict is worth 1, another nothing, and none at all is told") {
  const auto env = make_env("charts", {.role = "critic"});
  for (std::uint64_t index = 0; index < 20; ++index) {
    env->reset({Split::test, index});
    Rng rng = Rng::derive(1, "critic", "test");
    const std::string expert = env->demonstrate(rng).value().front().text;
    const StepResult right = env->fork()->step({expert, {}}), wrong = env->fork()->step(*env->mistake(rng));
    CHECK((right.terminated && right.reward.total == 1 && right.success == true));
    CHECK((wrong.reward.total == 0 && wrong.success == false && !wrong.info.contains("invalid_verdict")));
    const StepResult none = env->step({"well", {}});
    CHECK((none.reward.total == 0 && none.info.contains("invalid_verdict")));
    CHECK(env->step({expert, {}}).refused.has_value());
  }
}

TEST_CASE("critic: a wrong step of a tool suite has the form of the right one, but for a jump to an answer") {
  for (const char* suite : {"darkroom", "lookup"}) {
    const auto env = make_env(suite, {.level = 1});
    int thoughts = 0;
    for (std::uint64_t index = 0; index < 25; ++index) {
      const StepResult first = env->reset({Split::train, index, 3});
      Rng rng(index);
      for (const SolutionTurn& turn : expert_turns(*env, first, rng))
        for (const LabelledTurnStep& step : labelled_steps(*turn.env, turn.text))
          for (const ErrorKind kind : kErrorKinds) {
            const auto wrong = turn.env->corrupt_step(step.query, kind, rng);
            if (!wrong || kind == ErrorKind::unjustified_jump) continue;
            INFO(env->task().id << ": " << step.query.step << " -> " << *wrong);
            CHECK(split_steps(*wrong).size() == 1);
            for (const char* tag : {"<think>", "</think>", "<code>", "<problem>", "<search>"})
              CHECK((wrong->find(tag) == std::string::npos) == (step.query.step.find(tag) == std::string::npos));
            thoughts += wrong->starts_with("<think>");
          }
    }
    CHECK(thoughts > 10);
  }
}

TEST_CASE("critic, sneaky: a kind of error that is held out is shown to nobody", "[long]") {
  const std::string held_out = "wrong_condition";
  const auto critic = make_env("charts", {.role = "critic", .held_out = held_out});
  const auto sneaky = make_env("charts", {.role = "sneaky", .held_out = held_out});
  const auto open = make_env("charts", {.role = "critic"});
  std::map<std::string, int> shown, without;
  Rng rng(4);
  for (std::uint64_t index = 0; index < 300; ++index) {
    ++shown[open->reset({Split::train, index, 3}).info["step_source"].get<std::string>()];
    ++without[critic->reset({Split::train, index, 3}).info["step_source"].get<std::string>()];
    sneaky->reset({Split::train, index, 3});
    CHECK(sneaky->demonstrate(rng)->at(0).text.find(held_out) == std::string::npos);
  }
  CHECK(shown.contains(held_out));
  CHECK_FALSE(without.contains(held_out));
  CHECK(without.size() == shown.size() - 1);

  for (const char* suite : {"darkroom", "lookup"}) {
    const auto env = make_env(suite, {.level = 1, .role = "sneaky", .held_out = held_out});
    for (std::uint64_t index = 0; index < 40; ++index) {
      env->reset({Split::train, index, 3});
      for (int i = 0; i < 3; ++i) {
        const Action wrong = env->demonstrate(rng)->at(0);
        const StepResult said = env->fork()->step(wrong);
        INFO(env->task().id << ": " << wrong.text << " " << to_json(said).dump());
        CHECK(said.success == true);
      }
    }
  }

  const auto solver = make_env("charts", {.held_out = held_out}), whole = make_env("charts");
  int possible = 0;
  for (std::uint64_t index = 0; index < 50; ++index) {
    solver->reset({Split::test, index, 0});
    whole->reset({Split::test, index, 0});
    const auto copy = solver->fork();
    const std::string turn = solver->demonstrate(rng)->at(0).text;
    for (const LabelledTurnStep& step : labelled_steps(*copy, turn)) {
      possible += whole->corrupt_step(step.query, ErrorKind::wrong_condition, rng).has_value();
      CHECK_FALSE(copy->corrupt_step(step.query, ErrorKind::wrong_condition, rng));
      CHECK(step.label.correct);
    }
  }
  CHECK(possible > 0);
  CHECK_THROWS_WITH(make_env("charts", {.held_out = "wrong_conditions"}), Contains("Did you mean 'wrong_condition'"));
}
