// critic/plain_critics.h - critics without a model: an upper bound (the suite's labels), chance level, and tests.
#pragma once

#include <cstdint>
#include <memory>

#include "critic/critic.h"

namespace agon::critic {

// Gives the suite's own label: Env::check_step of StepInContext::env. unknown if there is no env or the env cannot
// tell.
std::unique_ptr<StepCritic> make_oracle_critic();
// Gives every step this P(correct); correct from 0.5 on. Throws Error outside [0, 1].
std::unique_ptr<StepCritic> make_constant_critic(double probability);
// P(correct) is uniform in [0, 1). It depends only on the seed, the step and its context, not on the order of calls.
std::unique_ptr<StepCritic> make_random_critic(std::uint64_t seed);

}  // namespace agon::critic
