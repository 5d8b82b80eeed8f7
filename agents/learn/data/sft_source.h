// agents/learn/data/sft_source.h - the sources of supervised training: which demonstrations a step shows. Its config
// (agents/learn/loop/sft_config.h) is this, the model and the schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "env/suite.h"

namespace agon::agents {

struct SftSource {
  // Of two turns (env/wrappers/two_turn.h): the first answer is one of `start`, right or wrong, shown and not learned;
  // the second one is the expert's.
  env::Suite suite{"charts"};
  int level = 0;       // as the config has it, for names and random streams; 0: it leaves the level to the suite
  int episodes = 16;   // demonstrations of this source a step
  double detours = 0;  // chance before each turn of a wrong action that is shown, not learned: the way back is
  // Of role critic: the model folder whose steps are shown, in place of experts' steps that are right or made wrong
  // (agents/learn/data/sft_written.h), from so many train tasks.
  std::filesystem::path writer;
  int written_tasks = 5000;
  // The suite for its solver, who answers once: what models play that demonstrations show.
  env::Suite solver() const { return suite.with({.level = level}); }
};

// Which demonstrations are drawn.
struct DemonstrationConfig {
  std::uint64_t seed = 1;
  std::vector<SftSource> sources;
  // Where the train tasks of the source number `index` begin. Sources of one suite and level share none, nor a random
  // stream.
  std::uint64_t first_task(std::size_t index) const;
};

}  // namespace agon::agents
