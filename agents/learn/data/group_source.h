// agents/learn/data/group_source.h - the interface of a source of roll-out groups for training: the policy plays tasks
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

  // Called before the first step. Selects the tasks worth playing, if the config asks for it. When *stop becomes true,
  // nothing changes.
  virtual void choose_tasks(Policy&, const std::atomic<bool>* /*stop*/) {}

  // Plays the next `count` groups and advances the position. round: a task that repeats in another round is sampled
  // anew. When *stop becomes true, the result is incomplete.
  virtual PlayedGroups play(Policy& policy, int count, std::uint64_t round, const std::atomic<bool>* stop) = 0;

  virtual Json position() const = 0;  // for a checkpoint
  virtual void restore(const Json& position) = 0;
  virtual const TrainSource& source() const = 0;
};

// Makes source number `index` of a config, which must have TrainSource::game. The arguments must outlive the source.
using GameSourceFactory =
    std::function<std::unique_ptr<GroupSource>(const PlayConfig& config, std::size_t index, const ModelFolder& folder)>;

}  // namespace agon::agents
