// critic/reward_model/judge_training.h - trains a policy to judge responses by imitation: the baseline that a reward
// model on the same data is measured against (YOJO, arXiv 2604.10966, Table 6).
#pragma once

#include <atomic>

#include "agents/learn/loop/offline.h"
#include "core/json.h"
#include "core/rng.h"
#include "critic/reward_model/preference.h"
#include "critic/reward_model/training.h"

namespace agon::critic {

// What a judge is asked of a set and what it should write, the verdict alone: of one pair of responses of different
// ranks, in an order that is drawn too, or of the best of all in an order that is drawn (of several best ones one).
agents::OfflineSample pair_lesson(const Preference& preference, Rng& rng);
agents::OfflineSample choice_lesson(const Preference& preference, Rng& rng);

// Trains config.network.base, every weight of it, on one lesson a set and epoch (config.judge says which), and writes
// the model folder config.output with a card. Goes on where it was stopped; what is finished is not done again. Returns
// {"samples", "sets", "steps", "training"}, or null where it was stopped. Throws Error for sets that teach nothing, for
// a folder that holds a judge of other data or settings, and for one in which another process trains.
Json train_judge(const RewardTrainingConfig& config, const std::atomic<bool>& stop);

}  // namespace agon::critic
