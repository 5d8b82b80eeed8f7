// critic/self_score_critic.h - uses the solver as its own critic: the solver completes the turn after the step, and the
// score that it gives to its answer (ADPO, arXiv 2601.01483) is the verdict.
#pragma once

#include <cstdint>
#include <memory>

#include "agents/policy.h"
#include "critic/critic.h"

namespace agon::critic {

struct SelfScoreCriticOptions {
  int max_tokens = 256;  // for the rest of the turn
};

// The policy completes the turn greedily after the step; P(correct) is the score that it writes, correct from 0.5 on. A
// turn without a valid score gives an invalid verdict. `policy` must outlive the critic.
std::unique_ptr<StepCritic> make_self_score_critic(agents::Policy& policy, const SelfScoreCriticOptions& options = {});

}  // namespace agon::critic
