// critic/self_play/lessons.h - what the two players learn from their games: responses with rewards, in the proportions
// of SPC (arXiv 2504.19162), for offline training (agents/learn/loop/offline.h).
#pragma once

#include <cstdint>
#include <vector>

#include "agents/learn/loop/offline.h"
#include "critic/self_play/games.h"
#include "env/suite.h"

namespace agon::critic {

// The generator's outputs: as many that fool the critic and do harm (reward 1) as do no harm (-1) and as are caught
// (-1), the same number of each where there are enough; where one sort has none, the two others alone. Invalid ones are
// left out: it has to learn what to write, not how. Drawn from `seed`. solver_reward false is the paper's ablation: the
// generator is rewarded for fooling the critic alone, and no step is harmless.
std::vector<agents::OfflineSample> sneaky_lessons(const std::vector<PlayedGame>& games, std::uint64_t seed,
                                                  bool solver_reward = true);

struct CriticLessonOptions {
  bool pairs = true;         // all critiques of the steps that have wins and losses; false: the first of every step
  bool harmful_only = true;  // of sneaky steps that do harm; false, an ablation of ours: of every valid one
};
struct CriticLessons {
  std::vector<agents::OfflineSample> samples;
  std::size_t right = 0, wrong = 0;  // steps that they judge: as many of one as of the other
};
// Critiques of sneaky steps that do harm, and of the right steps in their places: were these drawn from other games, a
// critic would learn which places are easily made wrong. Where more steps of one sort have wins and losses, steps of
// the other sort without them fill up, of the same places if there are such. Reward 1 for the right verdict, else -1.
// One group a step; without pairs one for all.
CriticLessons critic_lessons(const std::vector<PlayedGame>& games, const CriticLessonOptions& options);

// Examples of the suite's own for its role, imitated: `count` train tasks, drawn from (seed, number); another seed,
// others.
std::vector<agents::OfflineSample> role_examples(const env::Suite& suite, std::size_t count, std::uint64_t seed);

}  // namespace agon::critic
