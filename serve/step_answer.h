// serve/step_answer.h - the endpoint /pooling: judges the steps of a solution with a reward model or a critic, in the
// format of Qwen's process reward models. The functions throw Refused.
#pragma once

#include <atomic>
#include <string>

#include "core/json.h"
#include "critic/critic.h"
#include "serve/reward_answer.h"

namespace agon::serve {

// A critic and its name for clients.
struct ServedCritic {
  critic::StepCritic& critic;
  std::string name;
};

// {"messages"}: the last one is the assistant's, with "<extra_0>" after each step. The answer has a row [P(wrong),
// P(right)] per step: from a reward model for the solution up to that step, from a critic for the step itself.
// Additions to Qwen's format:
//   "last_step_only": true  the other steps are not judged, and their rows are null
//   "critiques"             from a critic only: what it wrote about each step; a step without a valid verdict has a
//                           null row
// stop: the work ends once it is set.
Json answer_pooling(const SortedJson& body, const ServedRewardModel& served, const PictureLimits& limits,
                    const std::atomic<bool>& stop);
Json answer_pooling(const SortedJson& body, const ServedCritic& served, const PictureLimits& limits,
                    const std::atomic<bool>& stop);

}  // namespace agon::serve
