// critic/generative_critic.h - a critic that writes a critique of each step and reads the verdict from it, as in SPC
// (arXiv 2504.19162).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "critic/critic.h"

namespace agon::critic {

// How several critiques of one step become one verdict. vote: the majority of the valid ones (tie: the more probable
// side, else incorrect); P(correct) is the share of "correct". mean: the mean of their P(correct); correct from 0.5 on.
enum class Combine { vote, mean };
Combine parse_combine(const std::string& name);  // throws Error naming the nearest

struct GenerativeCriticOptions {
  std::string instructions;  // the system message (critic_prompt.h); empty: "short"
  int critiques = 1;         // per step
  Combine combine = Combine::mean;
  double temperature = 0;  // several critiques need a temperature above 0
  int max_tokens = 256;
  std::uint64_t seed = 0;  // critique j of a step draws from (seed, the request to the critic, j)
};

// Writes the critiques of each step and returns their verdicts, by step. tokens: limit for all critiques of one step
// together. Throws Error for critiques < 1, and for several critiques at temperature 0.
std::vector<std::vector<Verdict>> write_critiques(agents::Policy& policy, const GenerativeCriticOptions& options,
                                                  std::span<const StepInContext> steps,
                                                  std::int64_t tokens = kNoTokenLimit);

// The verdict in a completion of the critic's role.
Verdict verdict_of(const agents::Completion& completion);

// Makes the critic. Each step is one request, and all requests are one call to the policy. P(correct) is the
// probability of the verdict's tokens "Correct", or 1 minus the probability of "Incorrect"; without log-probabilities
// it is 1 or 0. The verdict is invalid if no critique of the step parses. Throws Error for critiques < 1, and for
// several critiques at temperature 0. `policy` must outlive the critic.
std::unique_ptr<StepCritic> make_generative_critic(agents::Policy& policy, const GenerativeCriticOptions& options);

}  // namespace agon::critic
