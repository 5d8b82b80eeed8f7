// critic/self_play/lessons.h - makes training samples for both players from their games: responses with rewards, in the
// proportions of SPC (arXiv 2504.19162), for offline training (agents/learn/loop/offline.h).
#pragma once

#include <cstdint>
#include <vector>

#include "agents/learn/loop/offline.h"
#include "critic/self_play/games.h"
#include "env/suite.h"

namespace agon::critic {

// Samples of the generator: equally many steps that fool the critic (reward 1), are harmless (-1) and are caught (-1),
// if there are enough; if one sort is missing, only the other two. Invalid steps are left out: the generator has to
// learn what to write, not how. Drawn from `seed`. solver_reward false is the paper's ablation: the generator is
// rewarded only for fooling the critic, and no step is harmless.
std::vector<agents::OfflineSample> sneaky_lessons(const std::vector<PlayedGame>& games, std::uint64_t seed,
                                                  bool solver_reward = true);

struct CriticLessonOptions {
  bool pairs = true;  // all critiques of steps with both wins and losses; false: the first critique of every step
  bool harmful_only = true;  // only sneaky steps that do harm; false (our ablation): every valid one
};
struct CriticLessons {
  std::vector<agents::OfflineSample> samples;
  std::size_t right = 0, wrong = 0;  // number of right and of wrong steps judged: equal
};
// Samples of the critic: critiques of sneaky steps that do harm, and of the right steps that they replaced. (With right
// steps from other games a critic would learn which steps are easily made wrong.) If one sort has more steps with wins
// and losses, steps of the other sort without them fill up, preferably from the same games. Reward 1 for the right
// verdict, else -1. One group per step; without pairs one for all.
CriticLessons critic_lessons(const std::vector<PlayedGame>& games, const CriticLessonOptions& options);

// The suite's own examples of its role, to imitate: `count` train tasks, drawn from (seed, number).
std::vector<agents::OfflineSample> role_examples(const env::Suite& suite, std::size_t count, std::uint64_t seed);

}  // namespace agon::critic
