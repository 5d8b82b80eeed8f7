// agents/learn/data/sft/written.h - steps that a model wrote, labelled by their suite, to train a critic on the errors
// of that model. (env/wrappers/critic_role.h trains the critic on corrupted expert steps, which teach it to compare a
// step with the correct one.)
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "agents/learn/data/sft/data.h"
#include "agents/learn/data/sft/source.h"
#include "agents/policy.h"

namespace agon::agents {

struct WrittenStep {
  std::uint64_t task = 0;          // of the train split
  std::vector<std::string> turns;  // turns of the episode before the step's turn
  env::StepQuery query;
  bool correct = false;
};

// `writer` plays source.written_tasks train tasks of the source's suite, one sample each at T = 1. Returns as many
// balanced steps as possible, in an order drawn from the seed: equally many right and wrong ones per kind of task, turn
// and distance from the turn's end. A wrong step without a correction from the suite is left out. When *stop becomes
// true, some are missing.
std::vector<WrittenStep> sample_written_steps(Policy& writer, const SftSource& source, std::uint64_t seed,
                                              std::uint64_t first_task, const std::atomic<bool>* stop = nullptr);

// Demonstrates a critique: the step as a critic sees it, then the expert's critique of it. env: made from
// source.solver(); seed: as above.
Demonstration demonstrate_written(env::Env& env, const WrittenStep& step, std::uint64_t seed);

}  // namespace agon::agents
