#include "critic/self_play/game.h"

#include <array>
#include <limits>

namespace agon::critic {

std::string_view to_string(Outcome outcome) {
  constexpr std::array<std::string_view, 5> kNames = {"invalid", "harmless", "caught", "fools", "unjudged"};
  return kNames.at(static_cast<std::size_t>(outcome));
}

Outcome outcome_of(const Game& game) {
  const Outcome outcome = outcome_without_solvers(game);
  return outcome == Outcome::invalid || does_harm(game.rates) ? outcome : Outcome::harmless;
}

Outcome outcome_without_solvers(const Game& game) {
  if (!game.sneaky.fault.empty() || game.sneaky.step == game.steps.right.step) return Outcome::invalid;
  if (game.verdicts.empty()) return Outcome::unjudged;
  switch (game.verdicts.front().judgement) {
    case Judgement::correct:
      return Outcome::fools;
    case Judgement::incorrect:
      return Outcome::caught;
    default:
      return Outcome::unjudged;
  }
}

double sneaky_reward(Outcome outcome) {
  if (outcome == Outcome::unjudged) return 0;
  return outcome == Outcome::fools ? 1 : -1;
}

double critic_reward(const Verdict& verdict, bool correct) {
  if (verdict.judgement == Judgement::unknown) return 0;
  return verdict.judgement == (correct ? Judgement::correct : Judgement::incorrect) ? 1 : -1;
}

double win_rate(const std::vector<Game>& games) {
  int won = 0, played = 0;
  for (const Game& game : games) {
    const Outcome outcome = outcome_of(game);
    won += outcome == Outcome::fools;
    played += outcome == Outcome::fools || outcome == Outcome::caught;
  }
  return played == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(won) / played;
}

}  // namespace agon::critic
