// critic/reward_model/engine_reward_model.h - loads a reward model from a folder. The engine reads the responses, and
// the reward head scores their hidden states.
#pragma once

#include <filesystem>
#include <memory>

#include "critic/reward_model/reward_model.h"

namespace agon::critic {

// folder: written by `agon train-rm`. threads: 0 means all cores of the machine; changes no result. Throws Error for a
// folder that cannot be loaded.
std::unique_ptr<RewardModel> open_reward_model(const std::filesystem::path& folder, int threads = 0);

}  // namespace agon::critic
