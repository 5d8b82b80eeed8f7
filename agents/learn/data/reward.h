// agents/learn/data/reward.h - the reward that a roll-out learns from: components by name, each with a weight.
// Components are named by the env in its Reward; a new one needs no change here.
#pragma once

#include <map>
#include <string>

#include "record/episode.h"

namespace agon::agents {

using RewardComponents = std::map<std::string, double>;

// The components of an episode: those of its env, each summed over the turns, and, unless the env gives them itself,
// these from its text:
//   format: 1 if no turn opens a tag twice or leaves one open, and the last turn holds an answer; else 0;
//   score:  1 if the last turn holds a valid score; else 0;
//   reward_model: what a reward model gave its turn (agents/learn/data/response_scorer.h), where one did;
//   tool:   1 if a turn calls a tool (<search>, <code>, <problem>) and no such turn was refused; else 0.
RewardComponents reward_components(const record::Episode& episode);

// The sum of weight * component. Throws Error for a weight whose component the episode lacks, naming the nearest one,
// and for a component or weight that is not finite.
double weighted_reward(const RewardComponents& components, const std::map<std::string, double>& weights);

}  // namespace agon::agents
