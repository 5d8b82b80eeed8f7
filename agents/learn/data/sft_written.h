// agents/learn/data/sft_written.h - steps that a model wrote, right and wrong by what their suite knows: what a critic
// has to tell apart where it is used. Experts' steps made wrong (env/wrappers/critic_role.h) teach it to compare; these
// teach it what that model gets wrong.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "agents/learn/data/sft_data.h"
#include "agents/learn/data/sft_source.h"
#include "agents/policy.h"

namespace agon::agents {

struct WrittenStep {
  std::uint64_t task = 0;          // of the train split
  std::vector<std::string> turns;  // of the episode, before that of the step
  env::StepQuery query;
  bool correct = false;
};

// `writer` plays source.written_tasks train tasks of the source's suite, one sample each at T = 1. As many
// right steps as wrong ones of each kind of task and each distance from a turn's end, all that there are, in an order
// drawn from the seed. A wrong step of which the suite does not say what it should be is left out. When *stop becomes
// true, some are missing.
std::vector<WrittenStep> sample_written_steps(Policy& writer, const SftSource& source, std::uint64_t seed,
                                              std::uint64_t first_task, const std::atomic<bool>* stop = nullptr);

// The step as a critic is shown it, and its expert's critique. env: of the suite, for its solver; seed: as above.
Demonstration demonstrate_written(env::Env& env, const WrittenStep& step, std::uint64_t seed);

}  // namespace agon::agents
