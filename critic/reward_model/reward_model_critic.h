// critic/reward_model/reward_model_critic.h - a reward model used as a critic of steps.
#pragma once

#include <memory>
#include <string>

#include "critic/critic.h"
#include "critic/reward_model/reward_model.h"

namespace agon::critic {

// A step is judged as the response that ends with it: RewardModel::probability of its score. Consecutive steps with the
// same context (messages and text before) form one set, which is read at once. A step that would exceed the model's
// context begins a new set; one that exceeds it alone gets an invalid verdict. This critic writes nothing. `model` must
// outlive it. Throws Error for a model that was trained without held-out sets: its scores have no fitted probabilities.
std::unique_ptr<StepCritic> make_reward_model_critic(RewardModel& model, std::string name);

}  // namespace agon::critic
