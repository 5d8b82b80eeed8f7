// critic/self_score_critic.h - the solver as its own critic: the score of ADPO (arXiv 2601.01483) that it gives its
// answer when it continues from the step.
#pragma once

#include <cstdint>
#include <memory>

#include "agents/policy.h"
#include "critic/critic.h"

namespace agon::critic {

struct SelfScoreCriticOptions {
  int max_tokens = 256;  // of the rest of the turn
};

// The policy goes on with the turn, greedily, behind the step; P(correct) is the score that it writes, correct from 0.5
// on. A turn without a valid score is invalid. `policy` must outlive the critic.
std::unique_ptr<StepCritic> make_self_score_critic(agents::Policy& policy, const SelfScoreCriticOptions& options = {});

}  // namespace agon::critic
