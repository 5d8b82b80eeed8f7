// agents/learn/data/response_scorer.h - rewards that a model gives: critic/ implements it, cli/ hands it to the
// trainer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/message.h"

namespace agon::agents {

class ResponseScorer {
 public:
  virtual ~ResponseScorer() = default;
  // One score for each of several responses to the same messages; the higher the better. Throws Error where it cannot.
  virtual std::vector<double> score(const std::vector<Message>& messages, std::span<const std::string> responses) = 0;
};

// Of the folders of a reward model and of a judge, written last: where it is, the model is whole.
inline constexpr const char* kRewardModelFile = "reward_model.json";
inline constexpr const char* kJudgeFile = "judge.json";
inline constexpr const char* kModelReward = "reward_model";  // its component

}  // namespace agon::agents
