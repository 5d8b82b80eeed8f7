// critic/self_play/solver_check.h - checks whether a wrong step does harm, as in SPC (arXiv 2504.19162): how often
// solvers reach the right answer from it, compared with the original step.
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
  std::uint64_t number = 0;  // of its own: with it solvers draw the same, whatever else is checked beside it
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
  int max_tokens = 256;  // of the rest of the turn, and of each turn after it
  std::uint64_t seed = 0;
};

// The solvers go on with the turn behind each step (an answer ends it), and with the turns after it to the end of the
// episode; all that are at the same turn go to each solver at once, and those that are alike so far are played once.
// Episodes are graded by their envs; those that outgrow the context count in nothing. Throws Error for completions < 1
// and no solvers, and what an env or a solver throws.
std::vector<SolverRates> check_by_solvers(std::span<agents::Policy* const> solvers, std::span<const StepPair> pairs,
                                          const SolverCheckOptions& options = {});

}  // namespace agon::critic
