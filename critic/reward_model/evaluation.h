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

// Called with the number of sets that are done; false ends the work early, without figures.
using SetsDone = std::function<bool(std::size_t sets)>;

// How much scores depend on the order in which the responses stand.
struct OrderSensitivity {
  double deviation = 0;  // of a response's score over the orders, mean over the responses, as a share of the deviation
                         // of the scores within a set
  double best_changes = 0;  // share of the sets in which not every order finds the same response the best
};

// Scores of each set with its responses in an order drawn from the seed (files may put the best one first), in the
// order of the file. orders: in how many each set is scored; from 2 on `sensitivity` is filled in.
std::vector<ScoredSet> scored_by(RewardModel& model, const std::vector<Preference>& preferences, int orders,
                                 std::uint64_t seed, OrderSensitivity* sensitivity, const SetsDone& done = {});
// By win counts over all pairs, or by the one choice (1 for it, 0 for the others; all equal where there is
// none); in such an order too.
std::vector<ScoredSet> compared_by(Judge& judge, const std::vector<Preference>& preferences, std::uint64_t seed,
                                   const SetsDone& done = {});
std::vector<ScoredSet> chosen_by(Judge& judge, const std::vector<Preference>& preferences, std::uint64_t seed,
                                 const SetsDone& done = {});

}  // namespace agon::critic
