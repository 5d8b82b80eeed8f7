// critic/reward_model/reward_model_critic.h - a reward model used as a critic of steps.
#pragma once

#include <memory>
#include <string>

#include "critic/critic.h"
#include "critic/reward_model/reward_model.h"

namespace agon::critic {

// A step is judged as the response that ends with it: RewardModel::probability of its score. Steps side by side of one
// place (the same messages and text before) are candidates of one set, which is read at once; what
// would pass the context begins a new one, and a step that passes it alone has an invalid verdict. Writes nothing.
// `model` outlives it. Throws Error for a model that was trained without held-out sets: what its scores mean as
// probabilities is not known.
std::unique_ptr<StepCritic> make_reward_model_critic(RewardModel& model, std::string name);

}  // namespace agon::critic
