// agents/learn/data/sft/source.h - the sources of supervised training: which demonstrations each step learns. The rest
// of the config (agents/learn/loop/sft_config.h) is the model and the schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "env/suite.h"

namespace agon::agents {

struct SftSource {
  // With two turns (env/wrappers/two_turn.h): the first answer comes from model `start`, right or wrong, and is shown
  // but not learned; the second one is the expert's.
  env::Suite suite{"charts"};
  int level = 0;       // as in the config, for names and random streams; 0: the suite's default
  int episodes = 16;   // demonstrations of this source per step
  double detours = 0;  // chance of a wrong action before each turn: shown, not learned; the recovery is learned
  // For role critic: the folder of a model whose steps are judged, instead of an expert's correct and corrupted steps
  // (agents/learn/data/sft/written.h). written_tasks: number of train tasks that this model plays.
  std::filesystem::path writer;
  int written_tasks = 5000;
  // The suite in its solver role with one answer: models play it to write the texts that demonstrations show.
  env::Suite solver() const { return suite.with({.level = level}); }
};

// The demonstrations to draw.
struct DemonstrationConfig {
  std::uint64_t seed = 1;
  std::vector<SftSource> sources;
  // First train task of source number `index`. Sources of one suite and level share no task and no random stream.
  std::uint64_t first_task(std::size_t index) const;
};

}  // namespace agon::agents
