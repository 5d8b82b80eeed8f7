// critic/labelled_steps.h - steps of a suite's tasks with the truth that the suite knows, to measure a critic.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "critic/critic.h"
#include "critic/metrics.h"
#include "env/suite.h"
#include "record/episode.h"

namespace agon::critic {

// `context` is valid as long as the step or a copy of it lives.
struct LabelledStep {
  StepInContext context;
  JudgedStep truth;    // all but the verdict: problem is the task's index, position counts through its turns
  std::string reason;  // why it is wrong
  std::shared_ptr<const env::Env> env;
};

struct LabelledTasks {
  env::Suite suite;
  env::Split split = env::Split::test;
  std::uint64_t first_task = 0, tasks = 100, seed = 0;
};

// Of the expert's solutions: every step that the suite knows, as it is (source "expert") and once for every kind of
// error that fits (source: the kind). Called for each task when it is done; false ends the work early. Throws Error for
// a suite without an expert, or one that knows no step of it.
std::vector<LabelledStep> expert_steps(const LabelledTasks& tasks, const std::function<bool()>& done_one = {});

// Of what a policy wrote: every step that the suite knows (source "policy"). Episodes of the same suite as `tasks`;
// those that failed are left out.
std::vector<LabelledStep> episode_steps(const LabelledTasks& tasks, const std::vector<record::Episode>& episodes);

// The verdict of each step with its truth. `batch` steps are judged in one call; done(n) is called after each.
std::vector<JudgedStep> judge_all(StepCritic& critic, const std::vector<LabelledStep>& steps, std::size_t batch,
                                  const std::function<bool(std::size_t)>& done = {});

}  // namespace agon::critic
