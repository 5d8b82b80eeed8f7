// cli/flags/critic_flags.h - which critic a command judges steps with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

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
  std::string critic = "generative", policy, prompt = "short", combine = "mean", url, model, form = "qwen";
  int critiques = 1, max_tokens = 256;
  double temperature = 0;
  std::uint64_t seed = 0;
  std::optional<std::string> instructions;  // what it is told, in place of `prompt`
};
// Adds their options, but for the seed. prefix: before their names but for --critic and --critiques ("critic-", where
// the command has options of those names of its own). `flags` must outlive the parse.
void add_critic_options(CLI::App& command, CriticFlags& flags, const std::string& prefix = {});
// Throws Error for a flag among them that was given and of which this critic makes no use.
void require_used(const CLI::App& command, const CriticFlags& flags, const std::string& prefix = {});
// What the flags ask for, to be recorded with what the critic says. solver: whose own score self-score is where the
// flags name no policy; null: that of models/agon-tiny.
Json critic_config(const CriticFlags& flags, const agents::PolicySource* solver = nullptr);
// Which critic it is, for a provenance: {"critic"}, and "path" and "files" of its model folder, or "url" and "model" of
// its server, where it has one.
Json critic_record(const CriticFlags& flags, const agents::PolicySource* solver = nullptr);
// Which critic a recorded config names, as --critic would: "reward-model:DIR".
std::string critic_in(const Json& config);
// Back again, except the critic's policy, of which the config has the name and a hash alone: the one with that hash, of
// `solver` and the critic that comes with agon. Throws Error where neither does.
// given: the flags, whose folder and address come first.
CriticFlags critic_flags_in(const Json& config, const CriticFlags& given, const agents::PolicySource* solver);

struct OpenCritic {
  std::unique_ptr<agents::Policy> policy;  // what the critic writes with; null: it writes nothing, or with another's
  std::unique_ptr<critic::RewardModel> reward_model;
  std::unique_ptr<critic::StepCritic> critic;
  std::string label;  // "generative agon-tiny"
};
// Throws Error for a critic that there is not, with the nearest name, and for options that it cannot use.
// solver, source: a policy that is open already, and what it was opened from; a critic of the same source writes with
// it. It must outlive the critic.
OpenCritic open_critic(const CriticFlags& flags, agents::Policy* solver = nullptr,
                       const agents::PolicySource* source = nullptr);

}  // namespace agon::cli
