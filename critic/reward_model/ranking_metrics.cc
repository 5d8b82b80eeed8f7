#include "critic/reward_model/ranking_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/intervals.h"
#include "core/statistics.h"

namespace agon::critic {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Numbers of pairs of a set, by the order that ranks and scores give them.
struct Pairs {
  int agree = 0, differ = 0;               // ranks and scores both differ: in the same order, in opposite order
  int equal_scores = 0;                    // only the scores are equal
  int equal_ranks = 0, equal_in_both = 0;  // only the ranks are equal; ranks and scores are equal
};

Pairs pairs_of(const ScoredSet& set) {
  Pairs pairs;
  for (std::size_t a = 0; a < set.rank.size(); ++a)
    for (std::size_t b = a + 1; b < set.rank.size(); ++b) {
      const bool ranks_equal = set.rank[a] == set.rank[b], scores_equal = set.scores[a] == set.scores[b];
      if (ranks_equal || scores_equal)
        ++(ranks_equal && scores_equal ? pairs.equal_in_both : ranks_equal ? pairs.equal_ranks : pairs.equal_scores);
      else
        ++((set.rank[a] < set.rank[b]) == (set.scores[a] > set.scores[b]) ? pairs.agree : pairs.differ);
    }
  return pairs;
}

double mean_of_numbers(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return mean(values);
}

Json json_of(const RankingFigures& figures) {
  return {{"best_of_n", number_or_null(figures.best_of_n.value)},
          {"pairwise", number_or_null(figures.pairwise)},
          {"kendall_tau", number_or_null(figures.kendall_tau)},
          {"n", figures.best_of_n.tasks}};
}

}  // namespace

double best_of_n(const ScoredSet& set) {
  const double highest = *std::max_element(set.scores.begin(), set.scores.end());
  double chosen = 0, right = 0;
  for (std::size_t i = 0; i < set.scores.size(); ++i) {
    if (set.scores[i] != highest) continue;
    ++chosen;
    right += set.rank[i] == 1;
  }
  return right / chosen;
}

double pairwise_accuracy(const ScoredSet& set) {
  const Pairs pairs = pairs_of(set);
  const int all = pairs.agree + pairs.differ + pairs.equal_scores;
  return all ? static_cast<double>(pairs.agree) / all : kNone;
}

double kendall_tau(const ScoredSet& set) {
  const Pairs pairs = pairs_of(set);
  const double ordered = pairs.agree + pairs.differ;
  const double by_rank = ordered + pairs.equal_scores, by_score = ordered + pairs.equal_ranks;
  if (by_rank == 0) return kNone;
  return by_score == 0 ? 0 : (pairs.agree - pairs.differ) / std::sqrt(by_rank * by_score);
}

RankingFigures ranking_figures(std::span<const ScoredSet> sets) {
  std::vector<double> best, pairwise, tau;
  std::vector<TaskShare> shares;
  for (const ScoredSet& set : sets) {
    best.push_back(best_of_n(set));
    shares.push_back({best.back()});
    pairwise.push_back(pairwise_accuracy(set));
    tau.push_back(kendall_tau(set));
  }
  return {{mean(best), share_interval(shares), sets.size()}, mean_of_numbers(pairwise), mean_of_numbers(tau)};
}

Json ranking_json(std::span<const ScoredSet> sets) {
  const RankingFigures all = ranking_figures(sets);
  Json json = json_of(all);
  std::map<std::string, std::vector<ScoredSet>> by_category;
  std::vector<double> categories;
  for (const ScoredSet& set : sets) by_category[set.category].push_back(set);
  json["by_category"] = Json::object();
  for (const auto& [category, own] : by_category) {
    const RankingFigures figures = ranking_figures(own);
    json["by_category"][category] = json_of(figures);
    categories.push_back(figures.best_of_n.value);
  }
  json["macro"] = number_or_null(mean(categories));
  json["ci"] = interval_json(all.best_of_n.interval);
  return json;
}

}  // namespace agon::critic
