// agents/learn/data/response_scorer.h - the interface of a model that scores responses, so that training can use the
// scores as rewards. critic/ implements it, cli/ passes it to the trainer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/message.h"

namespace agon::agents {

class ResponseScorer {
 public:
  virtual ~ResponseScorer() = default;
  // Returns one score per response to the messages; higher is better. Throws Error on failure.
  virtual std::vector<double> score(const std::vector<Message>& messages, std::span<const std::string> responses) = 0;
};

// Files in the folder of a reward model and of a judge. Each is written last: if it exists, the folder is complete.
inline constexpr const char* kRewardModelFile = "reward_model.json";
inline constexpr const char* kJudgeFile = "judge.json";
inline constexpr const char* kModelReward = "reward_model";  // the reward component of the scorer

}  // namespace agon::agents
