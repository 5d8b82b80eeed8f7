// critic/self_play/lessons.h - turns games into training samples for both players: responses with rewards, in the
// proportions of SPC (arXiv 2504.19162), for offline training (agents/learn/loop/offline.h).
#pragma once

#include <cstdint>
#include <vector>

#include "agents/learn/loop/offline.h"
#include "critic/self_play/games.h"
#include "env/suite.h"

namespace agon::critic {

// Samples for the generator, drawn from `seed`: equally many steps that fool the critic (reward 1), that are harmless
// (-1) and that are caught (-1). A kind without any step is left out. Invalid steps are excluded: the games should
// teach which errors to make, not the output format. solver_reward false is the paper's ablation: the generator is
// rewarded only for fooling the critic, and no step is harmless.
std::vector<agents::OfflineSample> sneaky_lessons(const std::vector<PlayedGame>& games, std::uint64_t seed,
                                                  bool solver_reward = true);

struct CriticLessonOptions {
  bool pairs = true;  // all critiques of steps with both wins and losses; false: the first critique of every step
  bool harmful_only = true;  // only sneaky steps that do harm; false (our ablation): every valid step
};
struct CriticLessons {
  std::vector<agents::OfflineSample> samples;
  std::size_t right = 0, wrong = 0;  // number of right and of wrong steps in the samples; equal
};
// Samples for the critic: critiques of harmful sneaky steps and of the right steps that they replaced. (With right
// steps from other games a critic would learn which steps are easily made wrong.) Both kinds get equally many steps: if
// one kind has fewer steps with both wins and losses, steps without them are added to it, preferably from games whose
// other step is used. Reward 1 for the right verdict, else -1. Each step is one group; without pairs, all samples form
// one group.
CriticLessons critic_lessons(const std::vector<PlayedGame>& games, const CriticLessonOptions& options);

// The suite's own examples of its role, to imitate: one for each of the first `count` train tasks of `seed`.
std::vector<agents::OfflineSample> role_examples(const env::Suite& suite, std::size_t count, std::uint64_t seed);

}  // namespace agon::critic
