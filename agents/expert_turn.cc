#include "agents/expert_turn.h"

#include <algorithm>

#include "core/error.h"
#include "env/protocol.h"

namespace agon::agents {
namespace {

std::vector<env::Action> expert_actions(const env::Env& env, Rng& rng) {
  auto actions = env.demonstrate(rng);
  if (!actions || actions->empty())
    throw Error("task {} has no expert to grade the policy's turn against. Choose a suite that has one.",
                env.task().id);
  return *std::move(actions);
}

bool searches(const env::Action& action) { return env::first_tag(action.text, env::Tag::search).has_value(); }

record::Turn given_turn(env::Observation observation, const env::Action& action) {
  record::Turn turn;
  turn.observation = std::move(observation);
  turn.text = action.text;
  turn.finish_reason = "stop";
  turn.given = true;
  return turn;
}

}  // namespace

ExpertTurn play_to_expert_turn(env::Env& env, const env::StepResult& first, Rng& rng) {
  const std::vector<env::Action> actions = expert_actions(env, rng);
  const auto before = static_cast<std::size_t>(rng.between(0, static_cast<int>(actions.size()) - 1));
  ExpertTurn place;
  place.searches = std::any_of(actions.begin(), actions.end(), searches);
  place.observation = first.observation;
  for (std::size_t i = 0; i < before; ++i) {
    place.given.push_back(given_turn(std::move(place.observation), actions[i]));
    place.observation = env.step(actions[i]).observation;
  }
  place.text = actions[before].text;
  return place;
}

env::StepResult grade_turn(const ExpertTurn& place, const std::string& turn, const ExpertTurnRules& rules) {
  env::StepResult result;
  result.reward = place.searches ? search_turn_reward(turn, place.text, rules.rewards, *rules.similarity)
                                 : code_turn_reward(turn, place.text, rules.rewards);
  result.terminated = true;
  return result;
}

}  // namespace agon::agents
