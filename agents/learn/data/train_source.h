// agents/learn/data/train_source.h - the sources of a training run: the tasks that a step plays, and how. The rest of a
// training's config (agents/learn/loop/train_config.h) is about learning from the groups played.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/expert_turn.h"
#include "agents/policy.h"
#include "env/protocol.h"
#include "env/suite.h"

namespace agon::agents {

// A self-play game (SPC): the policy plays one role against another policy, and the game gives the reward
// (critic/self_play/game.h).
struct GameRules {
  std::filesystem::path against;  // model folder; empty: the policy itself, with its current weights
  // Folders of the models that check whether a wrong step does harm; empty: the policy itself.
  std::vector<std::filesystem::path> solvers;
};

// One source of tasks for each step.
struct TrainSource {
  env::Suite suite;
  int level = 0;        // as in the config, for names and figures; 0: the suite's default
  int prompts = 16;     // groups per step
  bool expert = false;  // the suite's expert answers, not the policy: one demonstration per task (for method sft)
  std::optional<ExpertTurnRules> expert_turn;  // a roll-out is one turn within an expert's episode
  std::optional<GameRules> game;               // for the roles critic and sneaky
  std::string label() const;
};

// The first task of source number `index`. No source plays a task of another source or of supervised training.
constexpr std::uint64_t first_task_of(std::size_t index) {
  return (std::uint64_t{1} << 44) + index * (std::uint64_t{1} << 36);
}

// The sources to evaluate, each with the name for its figures. Sources with the same tasks and the same 'reexamine'
// text count as one, named by the label of the first. If only the 'reexamine' text differs, a number is added to the
// name.
std::vector<std::pair<std::string, const TrainSource*>> evaluated_sources(const std::vector<TrainSource>& sources);

// How the groups of a training run are played.
struct PlayConfig {
  std::uint64_t seed = 1;
  int threads = 0;  // 0: the machine's cores. The number affects rounding
  std::vector<TrainSource> sources;
  int samples = 8;  // G, roll-outs per task
  Sampling sampling;
  env::StepRule step_rule = env::StepRule::sentence;  // how a turn is split into steps
  bool filter_offline = false;  // train only on tasks that the initial policy gets neither all right nor all wrong
  int offline_tasks = 1000;     // tasks per source to choose from
};

}  // namespace agon::agents
