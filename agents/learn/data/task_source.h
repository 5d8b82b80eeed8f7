// agents/learn/data/task_source.h - a training source that plays tasks: it selects the next tasks and plays groups of
// episodes on them.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "agents/learn/data/group_source.h"
#include "agents/learn/data/response_scorer.h"

namespace agon::agents {

class TaskSource final : public GroupSource {
 public:
  // Source number `index` of the config. Keeps references. scorer: adds the component kModelReward to every roll-out,
  // scoring the roll-outs of a group together; null: no roll-out has the component.
  TaskSource(const PlayConfig& config, std::size_t index, const ModelFolder& folder, ResponseScorer* scorer = nullptr);

  // With config.filter_offline: plays the first tasks with the policy and keeps those whose roll-outs are neither all
  // right nor all wrong (two turns: neither all 1->1 nor all 0->0), if none of their roll-outs failed. Throws Error if
  // fewer are left than a step plays.
  void choose_tasks(Policy& policy, const std::atomic<bool>* stop) override;
  PlayedGroups play(Policy& policy, int count, std::uint64_t round, const std::atomic<bool>* stop) override;
  Json position() const override;
  void restore(const Json& position) override;
  const TrainSource& source() const override { return source_; }

 private:
  std::vector<std::uint64_t> next_tasks(int count);
  std::vector<std::vector<record::Episode>> play_tasks(Policy& policy, const std::vector<std::uint64_t>& tasks,
                                                       std::uint64_t round, const std::atomic<bool>* stop) const;
  bool score(std::vector<record::Episode>& group, PlayedGroups& played) const;
  std::vector<std::vector<record::Episode>> demonstrate(const std::vector<std::uint64_t>& tasks,
                                                        PlayedGroups& played) const;

  const PlayConfig& config_;
  const TrainSource& source_;
  const std::size_t index_;
  const ModelFolder& folder_;
  ResponseScorer* const scorer_;
  const std::string instructions_;
  std::vector<std::uint64_t> chosen_;  // by choose_tasks; empty: all
  std::uint64_t next_ = 0;
};

}  // namespace agon::agents
