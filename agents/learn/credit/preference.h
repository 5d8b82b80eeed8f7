// agents/learn/credit/preference.h - the preference reward of ADPO: how well a roll-out's own score ranks it against
// the others of its group.
#pragma once

#include <optional>
#include <vector>

#include "agents/learn/credit/credit.h"
#include "agents/learn/credit/settings.h"

namespace agon::agents {

struct PreferenceSettings {
  bool pairwise = false;
  bool discrete = true;  // the contrast set holds the roll-outs that differ in being right (Eq. 8); else, by the margin
  double margin = 0;     // gamma: those whose answer reward differs by more than it (Eq. 9)
  bool batch = false;    // contrast sets are drawn from all groups that are credited together, not from the own group
  double empty_value = 0, offset = 0;
};
// Settings "mode", "gamma", "contrast", "empty_value" and "offset".
PreferenceSettings read_preference(CreditSettings& settings);

// The roll-outs that contrast sets are drawn from.
using ContrastPool = std::vector<const CreditRollout*>;
// For each group of a batch: itself, or with contrast=batch all roll-outs of the batch. Points into `groups`.
std::vector<ContrastPool> contrast_pools(const std::vector<CreditGroup>& groups, const PreferenceSettings& settings);

struct PreferenceReward {
  double reward = 0;
  int contrast = 0;                 // roll-outs in the contrast set C_i: those with a valid score alone
  std::optional<double> threshold;  // mode mean: mu_i, the mean score of C_i
};
// For roll-out i with score s_i:
//   mean (Eq. 6-7): 1 if it is right and s_i > mu_i, or wrong and s_i < mu_i; a tie is 0;
//   pairwise:       the share of j in C_i with (s_i - s_j) (R_i - R_j) > 0; in discrete mode R is 1 (right) or 0;
//   C_i empty: empty_value. To all of these `offset` is added. No valid score: 0.
std::vector<PreferenceReward> preference_rewards(const CreditGroup& group, const ContrastPool& pool,
                                                 const PreferenceSettings& settings);

}  // namespace agon::agents
