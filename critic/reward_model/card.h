// critic/reward_model/card.h - writes the model card (README.md) of a reward model or a judge: what it is and how it
// was made.
#pragma once

#include <filesystem>

#include "agents/learn/network/reward_network.h"
#include "core/json.h"
#include "critic/reward_model/training.h"

namespace agon::critic {

// notes: the result of train_reward_model. Throws Error if the file cannot be written.
void write_reward_card(const std::filesystem::path& folder, const agents::RewardNetworkSettings& settings,
                       const Json& notes);
// notes: the result of train_judge. Throws Error if the file cannot be written.
void write_judge_card(const std::filesystem::path& folder, const RewardTrainingConfig& config, const Json& notes);

}  // namespace agon::critic
