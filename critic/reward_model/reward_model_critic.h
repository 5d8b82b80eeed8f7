// critic/reward_model/reward_model_critic.h - uses a reward model as a critic of steps.
#pragma once

#include <memory>
#include <string>

#include "critic/critic.h"
#include "critic/reward_model/reward_model.h"

namespace agon::critic {

// P(correct) of a step is RewardModel::probability of the score of the response that ends with the step. Consecutive
// steps with the same context (messages and text before) form one set, which is read at once. A step that does not fit
// into the set begins a new one; a step that exceeds the model's context on its own gets an invalid verdict. This
// critic writes no text. `model` must outlive it. Throws Error for a model that was trained without held-out sets,
// because its scores have no fitted probabilities.
std::unique_ptr<StepCritic> make_reward_model_critic(RewardModel& model, std::string name);

}  // namespace agon::critic
