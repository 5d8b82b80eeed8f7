// critic/plain_critics.h - critics without a model, for upper bounds, for chance level, and for tests.
#pragma once

#include <cstdint>
#include <memory>

#include "critic/critic.h"

namespace agon::critic {

// Gives the suite's own label: Env::check_step of StepInContext::env. unknown if there is no env or it cannot tell.
std::unique_ptr<StepCritic> make_oracle_critic();
// Gives every step this P(correct); correct from 0.5 on. Throws Error outside [0, 1].
std::unique_ptr<StepCritic> make_constant_critic(double probability);
// P(correct) uniform in [0, 1), drawn from the seed, the step and its context alone, whatever the order of the calls.
std::unique_ptr<StepCritic> make_random_critic(std::uint64_t seed);

}  // namespace agon::critic
