// critic/discriminative_critic.h - a critic that writes nothing: it compares how likely a policy in the critic's role
// finds the two verdicts.
#pragma once

#include <memory>
#include <string>

#include "agents/policy.h"
#include "critic/critic.h"

namespace agon::critic {

// P(correct) = p(<Answer>Correct</Answer>) / (p(<Answer>Correct</Answer>) + p(<Answer>Incorrect</Answer>)), of the
// whole texts, directly after the critic's prompt; correct from 0.5 on. `instructions`: the system message
// (critic_prompt.h); empty: "short". A step that does not fit the context is invalid. `policy` must outlive the critic;
// throws Error if it cannot score.
std::unique_ptr<StepCritic> make_discriminative_critic(agents::Policy& policy, std::string instructions = {});

}  // namespace agon::critic
