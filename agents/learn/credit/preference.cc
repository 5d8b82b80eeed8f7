#include "agents/learn/credit/preference.h"

#include <cmath>

namespace agon::agents {
namespace {

double quality(const CreditRollout& rollout, const PreferenceSettings& settings) {
  return settings.discrete ? rollout.correct : rollout.answer_reward;
}

ContrastPool contrast_set(const ContrastPool& pool, const CreditRollout& own, const PreferenceSettings& settings) {
  ContrastPool others;
  for (const CreditRollout* other : pool) {
    const double distance = std::abs(quality(own, settings) - quality(*other, settings));
    if (other->score && distance > (settings.discrete ? 0 : settings.margin)) others.push_back(other);
  }
  return others;
}

double mean_score(const ContrastPool& rollouts) {
  double sum = 0;
  for (const CreditRollout* rollout : rollouts) sum += *rollout->score;
  return sum / static_cast<double>(rollouts.size());
}

double win_rate(const CreditRollout& own, const ContrastPool& others, const PreferenceSettings& settings) {
  double wins = 0;
  for (const CreditRollout* other : others) {
    const double by_score = *own.score - *other->score, by_quality = quality(own, settings) - quality(*other, settings);
    wins += (by_score > 0 && by_quality > 0) || (by_score < 0 && by_quality < 0);
  }
  return wins / static_cast<double>(others.size());
}

PreferenceReward preference_of(const ContrastPool& pool, const CreditRollout& own, const PreferenceSettings& settings) {
  PreferenceReward preference;
  if (!own.score) return preference;
  const auto others = contrast_set(pool, own, settings);
  preference.contrast = static_cast<int>(others.size());
  if (others.empty()) {
    preference.reward = settings.empty_value;
  } else if (settings.pairwise) {
    preference.reward = win_rate(own, others, settings);
  } else {
    preference.threshold = mean_score(others);
    preference.reward = own.correct ? *own.score > *preference.threshold : *own.score < *preference.threshold;
  }
  preference.reward += settings.offset;
  return preference;
}

}  // namespace

PreferenceSettings read_preference(CreditSettings& settings) {
  PreferenceSettings read;
  read.pairwise = settings.choice("mode", {"mean", "pairwise"}) == "pairwise";
  const Json gamma = settings.raw("gamma", "discrete");
  if (gamma.is_number()) {
    read.margin = settings.number("gamma", 0, 0);
    read.discrete = false;
  } else if (gamma != "discrete") {
    settings.refuse("gamma", "a margin from 0, or discrete");
  }
  if (!read.discrete && !read.pairwise) settings.refuse("gamma", "discrete in mode mean; margins need mode=pairwise");
  read.batch = settings.choice("contrast", {"group", "batch"}) == "batch";
  read.empty_value = settings.number("empty_value", 0);
  read.offset = settings.number("offset", 0);
  return read;
}

std::vector<PreferenceReward> preference_rewards(const CreditGroup& group, const ContrastPool& pool,
                                                 const PreferenceSettings& settings) {
  std::vector<PreferenceReward> preferences;
  for (const CreditRollout& own : group) preferences.push_back(preference_of(pool, own, settings));
  return preferences;
}

std::vector<ContrastPool> contrast_pools(const std::vector<CreditGroup>& groups, const PreferenceSettings& settings) {
  std::vector<ContrastPool> pools;
  ContrastPool all;
  for (const CreditGroup& group : groups) {
    ContrastPool& own = pools.emplace_back();
    for (const CreditRollout& rollout : group) own.push_back(&rollout);
    all.insert(all.end(), own.begin(), own.end());
  }
  return settings.batch ? std::vector<ContrastPool>(groups.size(), all) : pools;
}

}  // namespace agon::agents
