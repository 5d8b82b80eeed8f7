// critic/self_play/game.h - one game of the sneaky generator against the critic, and its zero-sum rewards (SPC, arXiv
// 2504.19162, Eq. 2 and 3).
#pragma once

#include <string_view>
#include <vector>

#include "critic/critic.h"
#include "critic/self_play/solver_check.h"
#include "env/wrappers/sneaky_role.h"

namespace agon::critic {

// invalid: the generator wrote no step, or repeated the original one. harmless: solvers recover from it (does_harm).
// caught, fools: it does harm, and the critic rejects it or accepts it. unjudged: it does harm, and there is no
// verdict.
enum class Outcome { invalid, harmless, caught, fools, unjudged };
std::string_view to_string(Outcome outcome);

struct Game {
  StepPair steps;                 // wrong: the generator's step
  env::SneakyStep sneaky;         // the generator's output, parsed
  SolverRates rates;              // if it is valid
  std::vector<Verdict> verdicts;  // critiques of the step, if it is valid
};

// The outcome by the first verdict.
Outcome outcome_of(const Game& game);
// The same without solvers: every valid step counts as one that does harm.
Outcome outcome_without_solvers(const Game& game);

// R_sneaky: 1 if the generator wins (fools), -1 if it loses (invalid, harmless, caught), 0 for an unjudged game, for
// both sides.
double sneaky_reward(Outcome outcome);
// R_critic of one verdict on a labelled step: 1 for the right verdict, -1 for a wrong or invalid one, 0 for unknown.
double critic_reward(const Verdict& verdict, bool correct);

// The share of games with a harmful step that the generator wins; NaN without any.
double win_rate(const std::vector<Game>& games);

}  // namespace agon::critic
