// agents/learn/data/response_scorer.h - ResponseScorer: rewards from a model. critic/ implements it, cli/ passes it to
// the trainer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/message.h"

namespace agon::agents {

class ResponseScorer {
 public:
  virtual ~ResponseScorer() = default;
  // One score for each of several responses to the same messages; higher is better. Throws Error on failure.
  virtual std::vector<double> score(const std::vector<Message>& messages, std::span<const std::string> responses) = 0;
};

// Of the folders of a reward model and of a judge, written last: where it is, the model is whole.
inline constexpr const char* kRewardModelFile = "reward_model.json";
inline constexpr const char* kJudgeFile = "judge.json";
inline constexpr const char* kModelReward = "reward_model";  // the reward component of the scorer

}  // namespace agon::agents
