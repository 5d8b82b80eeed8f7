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

// A request to a judge and the verdict that it should write. pair_lesson: one pair of responses of different ranks.
// choice_lesson: the best of all responses (one of several best ones). The order of the responses is drawn.
agents::OfflineSample pair_lesson(const Preference& preference, Rng& rng);
agents::OfflineSample choice_lesson(const Preference& preference, Rng& rng);

// Trains config.network.base, every weight of it, on one lesson per set and epoch (config.judge says which kind), and
// writes the model folder config.output with a card. Resumes where it was stopped; a finished training is not repeated.
// Returns {"samples", "sets", "steps", "training"}, or null if it was stopped. Throws Error for sets that teach
// nothing, for a folder that holds a judge of other data or settings, and for a folder in which another process trains.
Json train_judge(const RewardTrainingConfig& config, const std::atomic<bool>& stop);

}  // namespace agon::critic
