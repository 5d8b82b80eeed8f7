// cli/flags/critic_flags.h - the flags that choose the critic of a command.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/open_policy.h"
#include "agents/policy.h"
#include "core/json.h"
#include "critic/critic.h"
#include "critic/reward_model/reward_model.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace agon::cli {

inline constexpr const char* kCriticFlags = "Critic";  // group of --help

struct CriticFlags {
  std::string critic = "generative", policy, prompt = "short", combine = "mean", url, model, key_env, form = "qwen";
  int critiques = 1, max_tokens = 256;
  double temperature = 0;
  std::uint64_t seed = 0;
  std::optional<std::string> instructions;  // its system message, in place of `prompt`
  std::string cache;  // --cache for the server of its policy (cli/flags/cache_flag.h); empty: as the server's file says
};
// Adds their options, except the seed. prefix: put before all names except --critic and --critiques ("critic-", if the
// command itself has options of these names). `flags` must outlive the parse.
void add_critic_options(CLI::App& command, CriticFlags& flags, const std::string& prefix = {});
// Throws WrongUsage for a flag among them that was given and that this critic does not use.
void require_used(const CLI::App& command, const CriticFlags& flags, const std::string& prefix = {});
// The policy that the critic asks; empty if it asks none.
std::vector<agents::PolicySource> critic_policies(const CriticFlags& flags, const agents::PolicySource* solver);
// The config of the critic, recorded with its verdicts. solver: the policy of self-score if the flags name none; null:
// models/agon-tiny.
Json critic_config(const CriticFlags& flags, const agents::PolicySource* solver = nullptr);
// The critic for provenance: {"critic"}, plus "path" and "files" of its model folder or "url" and "model" of its
// server, if it has one.
Json critic_record(const CriticFlags& flags, const agents::PolicySource* solver = nullptr);
// The critic that a recorded config names, in the form of --critic: "reward-model:DIR".
std::string critic_in(const Json& config);
// The flags of a recorded config. The config records only the name and a hash of the critic's policy, which is `solver`
// or agon's own critic, whichever has that hash; throws Error if neither does. given: flags of this call, whose policy
// and address take precedence.
CriticFlags critic_flags_in(const Json& config, const CriticFlags& given, const agents::PolicySource* solver);

struct OpenCritic {
  std::unique_ptr<agents::Policy> policy;  // the critic's own; null: it has none, or uses the solver's
  std::unique_ptr<critic::RewardModel> reward_model;
  std::unique_ptr<critic::StepCritic> critic;
  std::string label;  // "generative agon-tiny"
};
// Throws WrongUsage for an unknown critic, with the nearest name, and for options that it cannot use. solver, source: a
// policy that is already open, and what it was opened from; a critic of the same source shares it. It must outlive the
// critic.
OpenCritic open_critic(const CriticFlags& flags, agents::Policy* solver = nullptr,
                       const agents::PolicySource* source = nullptr);

}  // namespace agon::cli
