// agents/learn/data/train_source.h - the sources of a training: which tasks a step plays, and how. A training's config
// (agents/learn/loop/train_config.h) is this and what becomes of the groups that were played.
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

// The policy plays a role of SPC against another one, and is rewarded by the game (critic/self_play/game.h).
struct GameRules {
  std::filesystem::path against;               // model folder; empty: the policy itself, as it then is
  std::vector<std::filesystem::path> solvers;  // model folders that check what a step does; empty: the policy itself
};

// Where a step's tasks come from.
struct TrainSource {
  env::Suite suite;
  int level = 0;        // as the config has it, for names and figures; 0: it leaves the level to the suite
  int prompts = 16;     // groups a step
  bool expert = false;  // the suite's expert answers, not the policy: one demonstration a task (for method sft)
  std::optional<ExpertTurnRules> expert_turn;  // a roll-out is one turn at a place of an expert's episode
  std::optional<GameRules> game;               // of the roles critic and sneaky
  std::string label() const;
};

// No source of a training plays a task of another, nor one that supervised training has seen: those of the source
// number `index` begin here.
constexpr std::uint64_t first_task_of(std::size_t index) {
  return (std::uint64_t{1} << 44) + index * (std::uint64_t{1} << 36);
}

// Those whose evaluations differ, each with the name that its figures have: sources of the same tasks, shown in the
// same words, are one. The name is the label of the first; with another 'reexamine' a number follows it.
std::vector<std::pair<std::string, const TrainSource*>> evaluated_sources(const std::vector<TrainSource>& sources);

// How the groups of a training are played.
struct PlayConfig {
  std::uint64_t seed = 1;
  int threads = 0;  // 0: the machine's cores. Another number rounds differently
  std::vector<TrainSource> sources;
  int samples = 8;  // G, roll-outs a task
  Sampling sampling;
  env::StepRule step_rule = env::StepRule::sentence;  // what a step of a turn is
  bool filter_offline = false;  // train only on tasks that the first policy answers neither all right nor all wrong
  int offline_tasks = 1000;     // a source, to choose from
};

}  // namespace agon::agents
