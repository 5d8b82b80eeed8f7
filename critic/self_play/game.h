// critic/self_play/game.h - one game of the sneaky generator against the critic, and its zero-sum rewards (SPC, arXiv
// 2504.19162, Eq. 2 and 3).
#pragma once

#include <string_view>
#include <vector>

#include "critic/critic.h"
#include "critic/self_play/solver_check.h"
#include "env/wrappers/sneaky_role.h"

namespace agon::critic {

// invalid: what the generator wrote is no step, or the step that was there. harmless: solvers get over it (does_harm).
// caught, fools: it does harm, and the critic says so or does not. unjudged: it does harm, and there is no verdict.
enum class Outcome { invalid, harmless, caught, fools, unjudged };
std::string_view to_string(Outcome outcome);

struct Game {
  StepPair steps;                 // wrong: as the generator wrote it
  env::SneakyStep sneaky;         // what it wrote, parsed
  SolverRates rates;              // where it is valid
  std::vector<Verdict> verdicts;  // critiques of the step, where it is valid
};

// By the first verdict.
Outcome outcome_of(const Game& game);
// The same where solvers have no say: every valid step counts as one that does harm.
Outcome outcome_without_solvers(const Game& game);

// R_sneaky: 1 where it wins, that is fools; -1 where it loses: invalid, harmless, caught. An unjudged game is worth
// nothing to either side: 0.
double sneaky_reward(Outcome outcome);
// R_critic of one verdict on a labelled step: 1 for the right one, -1 for another and for an invalid one;
// 0 for unknown.
double critic_reward(const Verdict& verdict, bool correct);

// The share of games with a harmful step that the generator wins; NaN without any.
double win_rate(const std::vector<Game>& games);

}  // namespace agon::critic
