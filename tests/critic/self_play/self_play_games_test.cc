// Games and the lessons from them, with scripted players.
#include <catch2/catch.hpp>
#include <set>

#include "actor.h"
#include "critic/self_play/games.h"
#include "critic/self_play/lessons.h"
#include "env/suite.h"
#include "env/verdict.h"
#include "env/wrappers/labelled_steps.h"

using namespace agon;
using namespace agon::critic;
using agon::test::Actor;

namespace {

std::vector<std::shared_ptr<const Challenge>> challenges(std::uint64_t count) {
  const auto env = env::make_env("charts", {.level = 1});
  std::vector<std::shared_ptr<const Challenge>> all;
  for (std::uint64_t number = 0; number < count; ++number)
    if (std::shared_ptr<const Challenge> one = draw_challenge(*env, "charts", "Work in steps.", 3, number))
      all.push_back(one);
  return all;
}

std::string sneaky(const std::string& step) { return env::sneaky_text(env::ErrorKind::misread_value, "", step); }

// A solver that continues to the right answer, unless the step before is "poison".
Actor solver_of(const std::vector<std::shared_ptr<const Challenge>>& tasks) {
  return Actor([tasks](const agents::CompletionRequest& request, int) {
    for (const auto& task : tasks)
      if (task->right.messages.back().parts[0].image.hash() == request.messages.back().parts[0].image.hash() &&
          request.prefix.find("poison") == std::string::npos)
        return "<answer>" + task->env->task().gold.get<std::string>() + "</answer>";
    return std::string("<answer>never</answer>");
  });
}

}  // namespace

TEST_CASE("A challenge is a right step that can be made wrong, the same for a number") {
  const auto first = challenges(30), again = challenges(30);
  REQUIRE(first.size() == 30);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const StepInContext& step = first[i]->right;
    CHECK(step.env->check_step({step.before, step.step}).value().correct);
    CHECK(step.messages.size() == 2);
    CHECK((again[i]->right.step == step.step && again[i]->right.before == step.before));
  }
}

TEST_CASE("A challenge of a suite of several turns stands in any of them") {
  const auto env = env::make_env("lookup");
  std::set<std::size_t> lengths;
  for (std::uint64_t number = 0; number < 30; ++number) {
    const auto challenge = draw_challenge(*env, "lookup", "", 3, number);
    REQUIRE(challenge);
    const StepInContext& step = challenge->right;
    CHECK(step.env->check_step({step.before, step.step}).value().correct);
    lengths.insert(step.messages.size());
  }
  CHECK(lengths.size() > 1);
}

TEST_CASE("A game is played by its rules, and comes back from the store as it was") {
  const auto tasks = challenges(8);
  Actor solver = solver_of(tasks);
  int asked = 0;
  Actor generator([&](const agents::CompletionRequest&, int) {
    switch (asked++ % 4) {
      case 0:
        return sneaky("poison");  // harmful
      case 1:
        return sneaky("nonsense");  // harmless
      case 2:
        return std::string("<type>x</type><step>y</step>");
      default:
        return sneaky("poison two");  // harmful, and caught
    }
  });
  Actor critic([](const agents::CompletionRequest& request, int sample) {
    const std::string text = request.messages.back().text();
    const bool caught = text.ends_with("two") || (text.ends_with("poison") && sample > 0);
    return env::tagged(caught ? env::StepVerdict::incorrect : env::StepVerdict::correct);
  });
  const auto games = play_games({&generator, &critic, {&solver}}, tasks, {});
  REQUIRE(games.size() == 8);
  for (std::size_t i = 0; i < games.size(); ++i) {
    constexpr Outcome kExpected[] = {Outcome::fools, Outcome::harmless, Outcome::invalid, Outcome::caught};
    CHECK(outcome_of(games[i].game) == kExpected[i % 4]);
    CHECK(games[i].right_verdicts.size() == 4);
    CHECK(games[i].game.verdicts.size() == (i % 4 == 2 ? 0 : 4));
    std::vector<Image> images;
    const Json json = game_json(games[i], images);
    CHECK(images.size() == 1);
    const PlayedGame back = game_in(json, games[i].challenge);
    std::vector<Image> again;
    CHECK(game_json(back, again) == json);
  }

  // Steps that fool the critic, are harmless, or are caught, 1 : 1 : 1.
  const auto lessons = sneaky_lessons(games, 1);
  REQUIRE(lessons.size() == 6);
  CHECK(std::count_if(lessons.begin(), lessons.end(), [](const auto& one) { return one.reward == 1; }) == 2);
  for (const agents::OfflineSample& one : lessons) CHECK(one.messages.front().role == Role::system);

  // Four harmful steps, two of which have wins and losses: a loss and three wins on "poison". They are matched by as
  // many right steps of the same places, although all critiques of those agree.
  const CriticLessons paired = critic_lessons(games, {});
  const auto& critiques = paired.samples;
  CHECK((paired.right == 2 && paired.wrong == 2));
  REQUIRE(critiques.size() == 4 * 4);
  CHECK(critiques[0].group == critiques[3].group);
  CHECK(critiques[3].group != critiques[4].group);
  CHECK((critiques[0].reward == -1 && critiques[1].reward == 1));
  // The first critique of each of the four, and of the right step at its place.
  const CriticLessons single = critic_lessons(games, {.pairs = false});
  const auto& firsts = single.samples;
  CHECK((single.right == 4 && single.wrong == 4));
  REQUIRE(firsts.size() == 8);
  for (std::size_t i = 0; i < 8; i += 2) {
    CHECK(firsts[i].messages.back().text() != firsts[i + 1].messages.back().text());
    CHECK(firsts[i + 1].reward == 1);           // this critic finds every right step right
    CHECK(firsts[i].group == firsts[0].group);  // with a baseline of its own, a critique would have no advantage
  }
  CHECK(critic_lessons(games, {.pairs = false, .harmful_only = false}).samples.size() == 12);

  // If solvers do not decide, harmless steps fool the critic or are caught like the others.
  const auto fooling = sneaky_lessons(games, 1, false);
  REQUIRE(fooling.size() == 4);
  CHECK(std::ranges::count_if(fooling, [](const auto& one) { return one.reward == 1; }) == 2);
}

TEST_CASE("A game may start from a solver's own solution") {
  const auto env = env::make_env("charts", {.level = 2});
  const auto experts = draw_challenge(*env, "charts", "Work in steps.", 3, 5);
  REQUIRE(experts);
  std::string solution;  // the expert's with other words, so its steps are known to be right
  const auto fresh = env->fork();
  const env::StepResult first = fresh->reset({env::Split::train, 5, 3});
  Rng rng(1);
  solution = env::expert_turns(*fresh, first, rng).at(0).text;
  int asked = 0;
  Actor solver([&](const agents::CompletionRequest& request, int) {
    ++asked;
    CHECK(request.messages.front().text() == "Work in steps.");
    CHECK(request.sampling.max_tokens == 77);
    return solution;
  });
  const auto challenge = draw_challenge(*env, "charts", "Work in steps.", 3, 5, {&solver, 77});
  REQUIRE(challenge);
  CHECK(asked == 1);
  CHECK(solution.find(challenge->right.step) != std::string::npos);
  const auto label = challenge->env->check_step({challenge->right.before, challenge->right.step});
  CHECK((label && label->correct));
  Actor wrong([](const agents::CompletionRequest&, int) { return std::string("who knows"); });
  CHECK(draw_challenge(*env, "charts", "", 3, 5, {&wrong, 77}) == nullptr);  // no step that is known to be right
}

TEST_CASE("Examples of a role are the experts' own, to be imitated") {
  const auto examples = role_examples(env::Suite("charts", {.level = 2, .role = "critic"}), 5, 4);
  REQUIRE(examples.size() == 5);
  for (const agents::OfflineSample& one : examples) {
    CHECK(one.imitated);
    CHECK(env::parse_verdict(one.response).verdict != env::StepVerdict::invalid);
  }
}
