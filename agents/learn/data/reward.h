// agents/learn/data/reward.h - the reward that a roll-out is trained on: the weighted sum of named components. The env
// names its components in its Reward; a new one needs no change here.
#pragma once

#include <map>
#include <string>

#include "record/episode.h"

namespace agon::agents {

using RewardComponents = std::map<std::string, double>;

// The components of an episode: those that its env gives, each summed over the turns, and the following ones unless the
// env gives them itself:
//   format: 1 if no turn opens a tag twice or leaves one open, and the last turn holds an answer; else 0;
//   score:  1 if the last turn holds a valid score; else 0;
//   reward_model: the reward model's score of the last turn (agents/learn/data/response_scorer.h), if it has one;
//   tool:   1 if a turn calls a tool (<search>, <code>, <problem>) and no such turn was refused; else 0.
RewardComponents reward_components(const record::Episode& episode);

// The sum of weight * component. Throws Error for a weight whose component the episode lacks, naming the nearest one,
// and for a component or weight that is not finite.
double weighted_reward(const RewardComponents& components, const std::map<std::string, double>& weights);

}  // namespace agon::agents
