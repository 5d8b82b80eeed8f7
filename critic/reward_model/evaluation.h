// critic/reward_model/evaluation.h - scores the responses of preferences with a reward model or a judge, so that
// `agon eval-rm` can measure it.
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

// Called after each batch with its number of sets; false ends the work early, and the result is incomplete.
using SetsDone = std::function<bool(std::size_t sets)>;

// How much scores depend on the order of the responses.
struct OrderSensitivity {
  double deviation = 0;     // standard deviation of a response's score over the orders, divided by that of the scores
                            // within a set; averaged over responses and sets
  double best_changes = 0;  // share of sets whose best response changes with the order
};

// Scores each set with its responses in an order drawn from the seed (a file may put the best response first); the
// scores come back in the file's order. orders: number of orders in which each set is scored. The result has the scores
// of the first order; from 2 orders on, `sensitivity` is filled in.
std::vector<ScoredSet> scored_by(RewardModel& model, const std::vector<Preference>& preferences, int orders,
                                 std::uint64_t seed, OrderSensitivity* sensitivity, const SetsDone& done = {});
// Scores by win counts over all pairs, or by the judge's one choice (1 for the chosen response, 0 for the others; all 0
// without a choice). The order is drawn in the same way.
std::vector<ScoredSet> compared_by(Judge& judge, const std::vector<Preference>& preferences, std::uint64_t seed,
                                   const SetsDone& done = {});
std::vector<ScoredSet> chosen_by(Judge& judge, const std::vector<Preference>& preferences, std::uint64_t seed,
                                 const SetsDone& done = {});

}  // namespace agon::critic
