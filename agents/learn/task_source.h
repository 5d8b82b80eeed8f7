// agents/learn/task_source.h - one source of a training: which tasks come next, and the groups of episodes on them.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "agents/learn/train_config.h"
#include "agents/learn/train_rollout.h"
#include "agents/policy.h"
#include "core/json.h"

namespace agon::agents {

class TaskSource {
 public:
  // The source number `index` of the config. Keeps references. No task of one source is a task of another.
  TaskSource(const TrainConfig& config, std::size_t index, const ModelFolder& folder);

  // config.filter: plays the first tasks with the policy and keeps those whose roll-outs are neither all right nor all
  // wrong (of two turns: neither all 1->1 nor all 0->0) and none of which the machinery failed. Throws Error if fewer
  // are left than a step plays. When *stop becomes true, nothing changes.
  void choose_tasks(Policy& policy, const std::atomic<bool>* stop);

  // Plays the next `count` tasks; the position moves on. round: another number answers a task that comes again anew. A
  // group with an episode that the machinery failed is left out and counted in *failed, with its reason; when *stop
  // becomes true the result is not complete.
  std::vector<TrainGroup> play(Policy& policy, int count, std::uint64_t round, std::string* failure, int* failed,
                               const std::atomic<bool>* stop);

  Json position() const;  // for a checkpoint
  void restore(const Json& position);
  const TrainSource& source() const { return source_; }

 private:
  std::vector<std::uint64_t> next_tasks(int count);
  std::vector<std::vector<env::Episode>> play_tasks(Policy& policy, const std::vector<std::uint64_t>& tasks,
                                                    std::uint64_t round, const std::atomic<bool>* stop) const;
  std::vector<std::vector<env::Episode>> demonstrate(const std::vector<std::uint64_t>& tasks) const;

  const TrainConfig& config_;
  const TrainSource& source_;
  const std::size_t index_;
  const ModelFolder& folder_;
  const std::string instructions_;
  std::vector<std::uint64_t> chosen_;  // by choose_tasks; empty: all
  std::uint64_t next_ = 0;
};

}  // namespace agon::agents
