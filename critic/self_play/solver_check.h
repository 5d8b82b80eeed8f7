// critic/self_play/solver_check.h - whether a step made wrong does harm: how often solvers reach the right answer from
// it, and from the step as it was (seed 001).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "critic/critic.h"

namespace agon::critic {

// The same place of a turn with its right step and with the one made wrong. env: before that turn; not null.
struct StepPair {
  StepInContext right;
  std::string wrong;
};

struct SolverRates {
  int completions = 0;              // of each of the two, by all solvers together; 0: nobody could say
  double original = 0, sneaky = 0;  // share of them that reach the right answer
};
// Valid: it changes what solvers do. original >= 0.75 and sneaky = 0; false without completions.
bool does_harm(const SolverRates& rates);

struct SolverCheckOptions {
  int completions = 8;  // a solver and step
  double temperature = 1;
  int max_tokens = 256;  // of the rest of the turn
  std::uint64_t seed = 0;
};

// The solvers go on with the turn behind each step; all of a call go to each solver at once. Turns are graded by the
// env; those that do not fit the context count in nothing. Throws Error for completions < 1, no solvers, and for an env
// whose episode does not end with the turn.
std::vector<SolverRates> check_by_solvers(std::span<agents::Policy* const> solvers, std::span<const StepPair> pairs,
                                          const SolverCheckOptions& options = {});

}  // namespace agon::critic
