// agents/learn/credit/preference.h - the preference reward of ADPO (arXiv 2601.01483): how well a roll-out's own score
// ranks it against the others of its group.
#pragma once

#include <optional>
#include <vector>

#include "agents/learn/credit/credit.h"
#include "agents/learn/credit/settings.h"

namespace agon::agents {

struct PreferenceSettings {
  bool pairwise = false;
  bool discrete = true;  // the contrast set holds the roll-outs with the opposite correctness (Eq. 8); false: it is
                         // chosen by `margin`
  double margin = 0;     // gamma: roll-outs whose answer reward differs by more than this (Eq. 9)
  bool batch = false;    // contrast sets come from all groups of the batch, not only the roll-out's own
  double empty_value = 0, offset = 0;
};
// Settings "mode", "gamma", "contrast", "empty_value" and "offset".
PreferenceSettings read_preference(CreditSettings& settings);

// The roll-outs that contrast sets are taken from.
using ContrastPool = std::vector<const CreditRollout*>;
// The pool of each group of a batch: the group itself, or with contrast=batch all roll-outs of the batch. Points into
// `groups`.
std::vector<ContrastPool> contrast_pools(const std::vector<CreditGroup>& groups, const PreferenceSettings& settings);

struct PreferenceReward {
  double reward = 0;
  int contrast = 0;  // number of roll-outs in the contrast set C_i; it holds only roll-outs with a valid score
  std::optional<double> threshold;  // mode mean: mu_i, the mean score of C_i
};
// For roll-out i with score s_i:
//   mean (Eq. 6-7): 1 if it is right and s_i > mu_i, or wrong and s_i < mu_i; a tie is 0;
//   pairwise:       the share of j in C_i with (s_i - s_j) (R_i - R_j) > 0; in discrete mode R is 1 (right) or 0;
//   C_i empty: empty_value.
// `offset` is added to each of these. Without a valid score the reward is 0.
std::vector<PreferenceReward> preference_rewards(const CreditGroup& group, const ContrastPool& pool,
                                                 const PreferenceSettings& settings);

}  // namespace agon::agents
