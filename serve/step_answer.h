// serve/step_answer.h - /pooling: the steps of a solution judged in the form of Qwen's process reward models, by a
// reward model or by a critic. The functions throw Refused.
#pragma once

#include <atomic>
#include <string>

#include "core/json.h"
#include "critic/critic.h"
#include "serve/reward_answer.h"

namespace agon::serve {

// A critic, and what clients call it.
struct ServedCritic {
  critic::StepCritic& critic;
  std::string name;
};

// {"messages"}: the last one is the assistant's, with "<extra_0>" behind each step. Of each step a row [P(wrong),
// P(right)]: a reward model's of the solution up to it, a critic's verdict on it. Beyond Qwen's form:
//   "last_step_only": true  the other steps are not judged, and their rows are null
//   "critiques"             as well as the rows, what a critic wrote of each step; the row of a step on which it
//   reached no
//                           verdict is null
// stop: the work ends once it is set.
Json answer_pooling(const SortedJson& body, const ServedRewardModel& served, const PictureLimits& limits,
                    const std::atomic<bool>& stop);
Json answer_pooling(const SortedJson& body, const ServedCritic& served, const PictureLimits& limits,
                    const std::atomic<bool>& stop);

}  // namespace agon::serve
