// critic/self_play/game_source.h - self-play games (critic/self_play/games.h) as a data source of `agon train`. This is
// the online form of SPC (arXiv 2504.19162): the policy under training plays with its current weights.
//   role sneaky   a group is G steps that the policy makes from one right step. Solvers check whether each step does
//                 harm, and the opponent judges it. Reward 1 if it does harm and is judged right, else -1 (0 without a
//                 verdict).
//   role critic   a group is G critiques of one step: first a harmful step that the opponent made wrong, in the next
//                 group the right step that it replaced. Reward 1 for the right verdict, else -1.
// The reward is the component "accuracy". The turn's info holds "game": {outcome, type, rates, against} or {step, ...}.
#pragma once

#include "agents/learn/data/group_source.h"

namespace agon::critic {

// Makes the source config.sources[index], which must have a `game`. Throws Error for a model that cannot be loaded, and
// for a solver that cannot complete a turn (require_solver).
std::unique_ptr<agents::GroupSource> make_game_source(const agents::PlayConfig& config, std::size_t index,
                                                      const agents::ModelFolder& folder);

}  // namespace agon::critic
