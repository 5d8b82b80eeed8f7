// critic/reward_model/judge_training.h - trains a policy by imitation to judge responses, as a baseline for a reward
// model that is trained on the same data (YOJO, arXiv 2604.10966, Table 6).
#pragma once

#include <atomic>

#include "agents/learn/loop/offline.h"
#include "core/json.h"
#include "core/rng.h"
#include "critic/reward_model/preference.h"
#include "critic/reward_model/training.h"

namespace agon::critic {

// A request to a judge, and the verdict that it should write. pair_lesson: about two responses of different ranks.
// choice_lesson: about the best of all responses (if several are best, one of them). The order of responses is random.
agents::OfflineSample pair_lesson(const Preference& preference, Rng& rng);
agents::OfflineSample choice_lesson(const Preference& preference, Rng& rng);

// Trains all weights of config.network.base on one lesson per set and epoch (config.judge is the kind of lesson), and
// writes the model folder config.output with a card. Resumes where it was stopped; does nothing if it is complete.
// Returns notes with "config", "samples", "sets", "steps", "training" and the provenance, or null if it was stopped.
// Throws Error for sets that teach nothing, for a folder that holds a judge of other data or settings, and for a folder
// in which another process trains.
Json train_judge(const RewardTrainingConfig& config, const std::atomic<bool>& stop);

}  // namespace agon::critic
