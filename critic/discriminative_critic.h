// critic/discriminative_critic.h - a critic that writes no text: it compares the probabilities that a policy in the
// critic's role gives to the two verdicts.
#pragma once

#include <memory>
#include <string>

#include "agents/policy.h"
#include "critic/critic.h"

namespace agon::critic {

// P(correct) = p(<Answer>Correct</Answer>) / (p(<Answer>Correct</Answer>) + p(<Answer>Incorrect</Answer>)). Each p is
// the probability of the whole text directly after the critic's prompt; correct from 0.5 on. `instructions`: the system
// message (critic_prompt.h); empty: "short". The verdict is invalid if the step does not fit the context. `policy` must
// outlive the critic; throws Error if it cannot score.
std::unique_ptr<StepCritic> make_discriminative_critic(agents::Policy& policy, std::string instructions = {});

}  // namespace agon::critic
