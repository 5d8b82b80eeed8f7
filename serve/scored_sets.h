// serve/scored_sets.h - scores the responses of a request with a reward model.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "critic/reward_model/reward_model.h"

namespace agon::serve {

struct ScoredSets {
  std::vector<double> scores;  // one per response, in order
  std::int64_t tokens = 0;     // tokens read
};

// Throws Refused for a set that exceeds the context, before any is scored, and also once `stop` is set.
ScoredSets scored_sets(critic::RewardModel& model, std::span<const critic::Candidates> sets,
                       const std::atomic<bool>& stop);

}  // namespace agon::serve
