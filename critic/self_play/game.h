// critic/self_play/game.h - one game of SPC (arXiv 2504.19162, Eq. 2 and 3) between the sneaky generator, which makes a
// step wrong, and the critic, which judges it; and the zero-sum rewards of both.
#pragma once

#include <string_view>
#include <vector>

#include "critic/critic.h"
#include "critic/self_play/solver_check.h"
#include "env/wrappers/sneaky_role.h"

namespace agon::critic {

// invalid: the generator wrote no step, or repeated the original one. harmless: does_harm is false, because
// solvers recover from the step, rarely succeed from the original one, or completed neither. The other steps do harm:
// the critic rejects them (caught), accepts them (fools), or gives no verdict (unjudged).
enum class Outcome { invalid, harmless, caught, fools, unjudged };
std::string_view to_string(Outcome outcome);

struct Game {
  StepPair steps;                 // wrong: the generator's step
  env::SneakyStep sneaky;         // the generator's output, parsed
  SolverRates rates;              // if the step is valid
  std::vector<Verdict> verdicts;  // verdicts on the step, one per critique, if the step is valid
};

// The outcome according to the first verdict.
Outcome outcome_of(const Game& game);
// The same without solvers: every valid step counts as one that does harm.
Outcome outcome_without_solvers(const Game& game);

// R_sneaky: 1 if the generator wins (fools), -1 if it loses (invalid, harmless, caught), 0 if the game is unjudged.
double sneaky_reward(Outcome outcome);
// R_critic of one verdict on a labelled step: 1 for the right verdict, -1 for a wrong or invalid one, 0 for unknown.
double critic_reward(const Verdict& verdict, bool correct);

// The generator's share of wins among the games whose step does harm and has a verdict; NaN if there are none.
double win_rate(const std::vector<Game>& games);

}  // namespace agon::critic
