#include "agents/learn/data/reward.h"

#include <catch2/catch.hpp>
#include <limits>

#include "core/error.h"
#include "env/protocol.h"

using agon::agents::reward_components;
using agon::agents::RewardComponents;
using agon::agents::weighted_reward;
using agon::record::Episode;
using agon::record::Turn;
using Catch::Matchers::Contains;

namespace {

Turn turn_of(const std::string& text, double accuracy) {
  Turn turn;
  turn.text = text;
  turn.reward = {accuracy, {{"accuracy", accuracy}}};
  return turn;
}

Episode episode_of(std::vector<Turn> turns) {
  Episode episode;
  episode.turns = std::move(turns);
  episode.answer = agon::env::extract_answer(episode.turns.back().text);
  episode.score = agon::env::extract_score(episode.turns.back().text);
  return episode;
}

double component(const std::string& name, std::vector<Turn> turns) {
  return reward_components(episode_of(std::move(turns))).at(name);
}

}  // namespace

TEST_CASE("the env's components are summed over the turns, the rest is read from the text", "[reward]") {
  const Episode episode =
      episode_of({turn_of("<search>who</search>", 0.25), turn_of("<answer>9</answer> <score>0.5</score>", 1)});
  REQUIRE(reward_components(episode) == RewardComponents{{"accuracy", 1.25}, {"format", 1}, {"score", 1}, {"tool", 1}});
  REQUIRE(weighted_reward(reward_components(episode), {{"accuracy", 1}, {"format", 0.1}}) == Approx(1.35));
  REQUIRE(weighted_reward(reward_components(episode), {}) == 0);
}

TEST_CASE("format: every tag closed and opened once, and an answer at the end", "[reward]") {
  REQUIRE(component("format", {turn_of("<think>a</think> \\boxed{9}", 0)}) == 1);
  REQUIRE(component("format", {turn_of("nine", 0)}) == 0);
  REQUIRE(component("format", {turn_of("<answer>9</answer><answer>8</answer>", 0)}) == 0);
  REQUIRE(component("format", {turn_of("<think>a <answer>9</answer>", 0)}) == 0);
  REQUIRE(component("format", {turn_of("</score><score> <answer>9</answer>", 0)}) == 0);
  REQUIRE(component("format", {turn_of("<think>", 0), turn_of("<answer>9</answer>", 0)}) == 0);
}

TEST_CASE("tool: called and not refused", "[reward]") {
  REQUIRE(component("tool", {turn_of("<answer>9</answer>", 1)}) == 0);
  Turn refused = turn_of("<code>1/0</code>", 0);
  refused.facts.refused = "no tools here";
  REQUIRE(component("tool", {refused, turn_of("<answer>9</answer>", 1)}) == 0);
}

TEST_CASE("a component of an env takes the place of ours, and needs nothing but its name", "[reward]") {
  Turn turn = turn_of("<answer>9</answer>", 1);
  turn.reward.components = {{"accuracy", 1}, {"format", 0.5}, {"similarity", 0.8}};
  const RewardComponents components = reward_components(episode_of({turn}));
  REQUIRE(components.at("format") == 0.5);
  REQUIRE(weighted_reward(components, {{"similarity", 10}}) == Approx(8));
}

TEST_CASE("weights without a component, and numbers without end, are refused", "[reward]") {
  const RewardComponents components = {{"accuracy", 1}, {"format", 1}};
  REQUIRE_THROWS_WITH(weighted_reward(components, {{"acuracy", 1}}), Contains("Did you mean 'accuracy'"));
  REQUIRE_THROWS_WITH(weighted_reward(components, {{"accuracy", std::numeric_limits<double>::quiet_NaN()}}),
                      Contains("not finite"));
}
