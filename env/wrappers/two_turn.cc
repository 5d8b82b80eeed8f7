#include "env/wrappers/two_turn.h"

#include <cassert>
#include <utility>

#include "core/error.h"
#include "env/wrappers/env_wrapper.h"

namespace agon::env {
namespace {

void describe_answer(StepResult& answer) {
  assert(answer.terminated || answer.truncated);
  answer.turn_correct = answer.success.value_or(false);
  answer.turn_reward = answer.reward.total;
}

class TwoTurnEnv final : public EnvWrapper {
 public:
  TwoTurnEnv(std::unique_ptr<Env> answered_once, std::string reexamine)
      : EnvWrapper(std::move(answered_once)), reexamine_(std::move(reexamine)) {}

  StepResult reset(const ResetOptions& options) override {
    StepResult first = EnvWrapper::reset(options);
    reexamining_ = false;
    return first;
  }

  StepResult step(const Action& action) override { return reexamining_ ? second(action) : first(action); }

  std::unique_ptr<Env> fork() const override { return std::make_unique<TwoTurnEnv>(*this); }

  std::optional<std::vector<Action>> demonstrate(Rng& rng) const override {
    std::optional<std::vector<Action>> actions = EnvWrapper::demonstrate(rng);
    if (actions && actions->size() == 1 && !reexamining_) actions->push_back(Action(actions->front()));
    return actions;
  }

 private:
  StepResult first(const Action& action) {
    StepResult answer = inner().fork()->step(action);
    if (answer.refused.has_value()) return answer;
    describe_answer(answer);
    reexamining_ = true;
    StepResult result;
    result.observation.parts = {Part::of(reexamine_)};
    for (const auto& [name, value] : answer.reward.components) result.reward.components.emplace_back(name, 0.0);
    result.turn_correct = answer.turn_correct;
    result.turn_reward = answer.turn_reward;
    return result;
  }

  StepResult second(const Action& action) {
    StepResult answer = EnvWrapper::step(action);
    if (!answer.refused.has_value()) describe_answer(answer);
    return answer;
  }

  std::string reexamine_;
  bool reexamining_ = false;  // the first answer has been given
};

}  // namespace

SuiteInfo two_turn_info(SuiteInfo info) {
  if (info.max_turns != 1)
    throw Error(
        "suite {}: its episodes have up to {} turns, and only a single answer can be re-examined. Choose a suite of "
        "one "
        "turn, or leave two turns out.",
        info.name, info.max_turns);
  info.max_turns = 2;
  return info;
}

std::unique_ptr<Env> two_turn_env(std::unique_ptr<Env> answered_once, std::string reexamine) {
  return std::make_unique<TwoTurnEnv>(std::move(answered_once), reexamine.empty() ? kReexamine : std::move(reexamine));
}

}  // namespace agon::env
