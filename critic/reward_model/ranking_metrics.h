// critic/reward_model/ranking_metrics.h - measures how well scores order responses with known ranks. Pure functions.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/estimate.h"
#include "core/json.h"

namespace agon::critic {

// The responses to one prompt: a rank (1 is the best) and a score (the highest is the best) each.
struct ScoredSet {
  std::string category;
  std::vector<int> rank;
  std::vector<double> scores;
};

// Figures of one set: The chance that a response with the highest score, drawn if there are several, is one of rank 1.
double best_of_n(const ScoredSet& set);
// Share of the pairs of different ranks whose scores have the same order; equal scores are wrong. NaN: no such pair.
double pairwise_accuracy(const ScoredSet& set);
// Kendall's tau-b of scores and ranks, 1 where they agree (scipy.stats.kendalltau of the scores and the negative
// ranks); 0 where all scores are equal, NaN where all ranks are.
double kendall_tau(const ScoredSet& set);

struct RankingFigures {
  Estimate best_of_n;                    // mean over the sets
  double pairwise = 0, kendall_tau = 0;  // means over the sets that have them
};
RankingFigures ranking_figures(std::span<const ScoredSet> sets);

// {best_of_n, pairwise, kendall_tau, macro, n, ci, by_category}: macro is the mean of the categories' best_of_n, n the
// number of sets, ci the 95 % interval of best_of_n over them (Wilson's). Undefined figures are null.
Json ranking_json(std::span<const ScoredSet> sets);

}  // namespace agon::critic
