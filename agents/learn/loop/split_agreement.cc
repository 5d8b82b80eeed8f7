#include "agents/learn/loop/split_agreement.h"

#include <cmath>
#include <map>

#include "core/intervals.h"

namespace agon::agents {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : std::nan(""); }

}  // namespace

SplitAgreement agreement(const std::vector<SplitStep>& steps, const std::function<bool(const SplitStep&)>& visual) {
  std::map<std::size_t, TaskShare> by_task;
  double found[2] = {0, 0}, of_label[2] = {0, 0}, visual_steps = 0;
  for (const SplitStep& step : steps) {
    const bool said = visual(step), agreed = said == step.perception;
    TaskShare& task = by_task.try_emplace(step.task, TaskShare{0, 0, 0}).first->second;
    task.part += agreed;
    task.whole += 1;
    task.draws += 1;
    found[step.perception] += agreed;
    of_label[step.perception] += 1;
    visual_steps += said;
  }
  std::vector<TaskShare> tasks;
  for (const auto& [task, share] : by_task) tasks.push_back(share);
  const auto count = static_cast<double>(steps.size());
  return {{share_of(tasks), share_interval(tasks), tasks.size()},
          ratio(visual_steps, count),
          ratio(found[1], of_label[1]),
          ratio(found[0], of_label[0])};
}

}  // namespace agon::agents
