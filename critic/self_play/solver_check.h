// critic/self_play/solver_check.h - checks whether a wrong step does harm, as in SPC (arXiv 2504.19162): how often
// solvers reach the right answer from it, compared with the original step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "critic/critic.h"
#include "env/suite.h"

namespace agon::critic {

// Throws Error, with what to use instead, for a policy that cannot write the rest of a turn of the suite's tasks.
void require_solver(const agents::Capabilities& solver, const env::Suite& suite);

// A place in a turn with its right step and with the step made wrong. env: its state before that turn; not null.
struct StepPair {
  StepInContext right;
  std::string wrong;
  std::uint64_t number = 0;  // seeds the solvers' samples, whatever else is checked in the same call
};

struct SolverRates {
  int completions = 0;              // per step, by all solvers together; 0: no completion counted
  double original = 0, sneaky = 0;  // share of completions that reach the right answer
};
// Whether the step changes what solvers answer: original >= 0.75 and sneaky = 0; false without completions.
bool does_harm(const SolverRates& rates);

struct SolverCheckOptions {
  int completions = 8;  // per solver and step
  double temperature = 1;
  int max_tokens = 256;  // of the rest of the turn, and of each turn after it
  std::uint64_t seed = 0;
};

// The solvers complete the turn after each step (an answer ends it), and play the later turns to the end of the
// episode. All episodes at the same turn go to a solver in one call, and episodes that are equal so far are played
// once. Envs grade the episodes; those that outgrow the context are not counted. Throws Error for completions < 1 and
// no solvers, and what an env or a solver throws.
std::vector<SolverRates> check_by_solvers(std::span<agents::Policy* const> solvers, std::span<const StepPair> pairs,
                                          const SolverCheckOptions& options = {});

}  // namespace agon::critic
