// agents/learn/data/group_source.h - where the groups of a training come from: tasks that the policy plays
// (agents/learn/data/task_source.h), or games against another policy (critic/self_play/game_source.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/hub/model_folder.h"
#include "agents/learn/data/train_rollout.h"
#include "agents/learn/data/train_source.h"
#include "agents/policy.h"
#include "core/json.h"

namespace agon::agents {

class GroupSource {
 public:
  virtual ~GroupSource() = default;

  // Before the first step, where the config asks for it: which tasks are worth playing. When *stop becomes true,
  // nothing changes.
  virtual void choose_tasks(Policy&, const std::atomic<bool>* /*stop*/) {}

  // Plays the next `count` groups; the position moves on. round: another number answers a task that comes again anew.
  // When *stop becomes true the result is not complete.
  virtual PlayedGroups play(Policy& policy, int count, std::uint64_t round, const std::atomic<bool>* stop) = 0;

  virtual Json position() const = 0;  // for a checkpoint
  virtual void restore(const Json& position) = 0;
  virtual const TrainSource& source() const = 0;
};

// Makes the source number `index` of a config, one with TrainSource::game. What it is given outlives it.
using GameSourceFactory =
    std::function<std::unique_ptr<GroupSource>(const PlayConfig& config, std::size_t index, const ModelFolder& folder)>;

}  // namespace agon::agents
