// critic/self_play/solver_check.h - checks whether a wrong step does harm, as in SPC (arXiv 2504.19162): it compares
// how often solvers reach the right answer from that step and from the original step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "critic/critic.h"
#include "env/suite.h"

namespace agon::critic {

// Throws Error (naming alternatives) for a policy that cannot complete a turn that has begun in the suite's tasks.
void require_solver(const agents::Capabilities& solver, const env::Suite& suite);

// A place in a turn, with its right step and the step made wrong. right.env: the state before that turn; not null.
struct StepPair {
  StepInContext right;
  std::string wrong;
  std::uint64_t number = 0;  // seeds the solvers' samples, independently of other pairs in the same call
};

struct SolverRates {
  int completions = 0;              // of the wrong step, by all solvers together; 0: a step has no completion
  double original = 0, sneaky = 0;  // share of completions that reach the right answer
};
// Whether the step changes the solvers' answers: original >= 0.75 and sneaky = 0; false without completions.
bool does_harm(const SolverRates& rates);

struct SolverCheckOptions {
  int completions = 8;  // per solver and step
  double temperature = 1;
  int max_tokens = 256;  // of the rest of the turn, and of each turn after it
  std::uint64_t seed = 0;
};

// The solvers complete the turn after each step (a step with the answer ends the turn) and play later turns to the end
// of the episode. All episodes at the same turn go to a solver in one call, and episodes that are equal so far are
// played once. Envs grade the episodes; episodes that outgrow the context are not counted. Throws Error for
// completions < 1 and for an empty list of solvers, and what an env or a solver throws.
std::vector<SolverRates> check_by_solvers(std::span<agents::Policy* const> solvers, std::span<const StepPair> pairs,
                                          const SolverCheckOptions& options = {});

}  // namespace agon::critic
