// critic/reward_model/evaluation.h - measures reward models and judges on preferences: the work of `agon eval-rm`.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/json.h"
#include "critic/reward_model/judge.h"
#include "critic/reward_model/preference.h"
#include "critic/reward_model/ranking_metrics.h"
#include "critic/reward_model/reward_model.h"

namespace agon::critic {

// Called with the number of finished sets; false ends the work early, without figures.
using SetsDone = std::function<bool(std::size_t sets)>;

// How much scores depend on the order in which the responses stand.
struct OrderSensitivity {
  double deviation = 0;  // of a response's score over the orders, averaged over responses, as a share of the deviation
                         // of the scores within a set
  double best_changes = 0;  // share of sets whose best response changes with the order
};

// Scores of each set with its responses in an order drawn from the seed (files may put the best one first), in the
// order of the file. orders: in how many each set is scored; from 2 on `sensitivity` is filled in.
std::vector<ScoredSet> scored_by(RewardModel& model, const std::vector<Preference>& preferences, int orders,
                                 std::uint64_t seed, OrderSensitivity* sensitivity, const SetsDone& done = {});
// Scores by win counts over all pairs, or by the judge's one choice (1 for it, 0 for the others; all equal without a
// choice). The order is drawn in the same way.
std::vector<ScoredSet> compared_by(Judge& judge, const std::vector<Preference>& preferences, std::uint64_t seed,
                                   const SetsDone& done = {});
std::vector<ScoredSet> chosen_by(Judge& judge, const std::vector<Preference>& preferences, std::uint64_t seed,
                                 const SetsDone& done = {});

}  // namespace agon::critic
