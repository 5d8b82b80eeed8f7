// critic/reward_model/ranking_metrics.h - measures how well scores order responses with known ranks. Pure functions.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/estimate.h"
#include "core/json.h"

namespace agon::critic {

// The rank (1 is the best) and the score (the highest is the best) of each response to one prompt.
struct ScoredSet {
  std::string category;
  std::vector<int> rank;
  std::vector<double> scores;
};

// The probability that the response with the highest score (if there are several: a random one) has rank 1.
double best_of_n(const ScoredSet& set);
// Share of the pairs with different ranks whose scores have the same order; equal scores count as wrong. NaN: no such
// pair.
double pairwise_accuracy(const ScoredSet& set);
// Kendall's tau-b of scores and ranks, 1 if they agree (scipy.stats.kendalltau of the scores and the negative ranks).
// 0 if all scores are equal, NaN if all ranks are equal.
double kendall_tau(const ScoredSet& set);

struct RankingFigures {
  Estimate best_of_n;                    // mean over the sets
  double pairwise = 0, kendall_tau = 0;  // means over the sets for which they are defined
};
RankingFigures ranking_figures(std::span<const ScoredSet> sets);

// {best_of_n, pairwise, kendall_tau, macro, n, ci, by_category}: macro is the mean of the categories' best_of_n, n the
// number of sets, ci the 95 % interval of best_of_n over them (Wilson's). Undefined figures are null.
Json ranking_json(std::span<const ScoredSet> sets);

}  // namespace agon::critic
