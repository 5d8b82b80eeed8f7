// critic/reward_model/engine_reward_model.h - opens the reward model of a folder: the engine reads the responses, the
// head scores their hidden states.
#pragma once

#include <filesystem>
#include <memory>

#include "critic/reward_model/reward_model.h"

namespace agon::critic {

// A folder that agon train-rm wrote. threads: 0 for the machine's cores; no influence on any result. Throws Error for a
// folder that does not load.
std::unique_ptr<RewardModel> open_reward_model(const std::filesystem::path& folder, int threads = 0);

}  // namespace agon::critic
