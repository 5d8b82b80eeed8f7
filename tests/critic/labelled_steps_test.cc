#include "critic/labelled_steps.h"

#include <catch2/catch.hpp>
#include <map>

#include "core/error.h"
#include "critic/plain_critics.h"

using namespace agon;
using namespace agon::critic;
using Catch::Contains;

namespace {

// An episode of one turn, as a run records it.
record::Episode episode_of(std::uint64_t task, const std::string& text) {
  const auto env = env::make_env("charts");
  record::Episode episode;
  episode.task_index = task;
  episode.turns.push_back({.observation = env->reset({env::Split::test, task}).observation, .text = text});
  return episode;
}

}  // namespace

TEST_CASE("labelled steps: the expert's are right, and every kind of error makes wrong ones") {
  for (const char* suite : {"charts", "shapes"}) {
    const LabelledTasks tasks{.suite = env::Suite(suite), .tasks = 40};
    const auto steps = expert_steps(tasks);
    std::map<std::string, int> sources;
    for (const LabelledStep& step : steps) {
      ++sources[step.truth.source];
      CHECK(step.truth.correct == (step.truth.source == "expert"));
      CHECK(step.context.messages.size() == 2);  // instructions and the task
      CHECK((step.truth.kind == "perception" || step.truth.kind == "reasoning"));
    }
    INFO(suite);
    CHECK(sources["expert"] >= 40);
    CHECK(sources.size() >= 4);
    const auto judged = judge_all(*make_oracle_critic(), steps, 7);
    const CriticFigures figures = critic_figures(judged);
    CHECK(figures.steps == steps.size());
    CHECK((figures.harmonic_mean == 1 && figures.auc == 1 && figures.brier == 0 && regret(judged) == 0));
  }
}

TEST_CASE("labelled steps: of a policy's turn, what the suite says of it") {
  const LabelledTasks tasks{.suite = env::Suite("charts"), .tasks = 1};
  std::string right_turn, wrong_turn;
  for (const LabelledStep& step : expert_steps(tasks)) {
    if (step.truth.position > 0) break;
    (step.truth.correct ? right_turn : wrong_turn) = step.context.step;
  }
  REQUIRE_FALSE(wrong_turn.empty());
  const auto steps = episode_steps(tasks, {episode_of(0, right_turn), episode_of(0, wrong_turn + "\n\nno claim")});
  REQUIRE(steps.size() == 2);
  CHECK((steps[0].truth.correct && !steps[1].truth.correct && steps[1].truth.source == "policy"));
  CHECK_THROWS_WITH(episode_steps(tasks, {episode_of(0, "no claim")}), Contains("no step"));
}

TEST_CASE("labelled steps: a suite of several turns shows each step after the turns before it") {
  const LabelledTasks tasks{.suite = env::Suite("darkroom", {.level = 1}), .tasks = 1};
  bool later = false;
  for (const LabelledStep& step : expert_steps(tasks))
    later |= std::count_if(step.context.messages.begin(), step.context.messages.end(),
                           [](const Message& message) { return message.role == Role::assistant; }) > 0;
  CHECK(later);
}
