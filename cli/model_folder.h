// cli/model_folder.h - finds the folders of policies and reward models.
#pragma once

#include <filesystem>
#include <string>

#include "agents/open_policy.h"

namespace agon::cli {

inline constexpr const char* kDefaultModel = "models/agon-tiny";
inline constexpr const char* kDefaultCritic = "models/agon-tiny-critic";
inline constexpr const char* kDefaultRewardModel = "models/agon-tiny-reward";

// The folder that holds the program, from /proc/self/exe.
std::filesystem::path program_folder();

// The model folder that --policy names; hf:ORG/NAME is a model that agon pull has fetched. An empty name means the
// model that comes with agon, searched in `program` and the folders above it, then in the current folder. Throws Error
// naming every folder tried.
std::filesystem::path find_model_folder(const std::string& policy,
                                        const std::filesystem::path& program = program_folder(),
                                        const char* default_model = kDefaultModel);

// The same, or the folder of a LoRA adapter, or the server that --policy names: an address, or a YAML file that
// describes it.
agents::PolicySource find_policy(const std::string& policy, const char* default_model = kDefaultModel);

// The reward model folder that --reward-model names. An empty name means the one that comes with agon, searched in the
// same places. Throws Error naming every folder tried.
std::filesystem::path find_reward_model(const std::string& folder,
                                        const std::filesystem::path& program = program_folder());

}  // namespace agon::cli
