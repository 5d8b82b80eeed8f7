// cli/critic_flags.h - which critic a command judges steps with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agents/policy.h"
#include "critic/critic.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace agon::cli {

struct CriticFlags {
  std::string critic = "generative", policy, prompt = "short", combine = "mean", url, model, form = "qwen";
  int critiques = 1, max_tokens = 256;
  double temperature = 0;
  std::uint64_t seed = 0;
};
// Adds their options, but for the seed. `flags` must outlive the parse.
void add_critic_options(CLI::App& command, CriticFlags& flags);

struct OpenCritic {
  std::unique_ptr<agents::Policy> policy;  // what the critic writes with; null: it writes nothing
  std::unique_ptr<critic::StepCritic> critic;
  std::string label;  // "generative agon-tiny"
};
// Throws Error for a critic that there is not, with the nearest name, and for options that it cannot use.
OpenCritic open_critic(const CriticFlags& flags);

}  // namespace agon::cli
