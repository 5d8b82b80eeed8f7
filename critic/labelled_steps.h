// critic/labelled_steps.h - makes data to measure a critic: steps of a suite's tasks in their context, with the suite's
// own labels (env/wrappers/labelled_steps.h).
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
  JudgedStep truth;    // all fields except the verdict's; problem: the task's index; position: counts over all turns
  std::string reason;  // why the step is wrong
  std::shared_ptr<const env::Env> env;
};

struct LabelledTasks {
  env::Suite suite;
  env::Split split = env::Split::test;
  std::uint64_t first_task = 0, tasks = 100, seed = 0;
};

// Steps of the expert's solutions: every step that the suite labels right, unchanged (source "expert") and once per
// kind of error that can be made in it (source: the kind). done_one: called after each task; false ends the work early.
// Throws Error for a suite without an expert, or one that labels none of its steps.
std::vector<LabelledStep> expert_steps(const LabelledTasks& tasks, const std::function<bool()>& done_one = {});

// Steps that a policy wrote: every step that the suite can label (source "policy"). `episodes` must be of the same
// suite as `tasks`; failed episodes are skipped. Throws Error if the suite labels none of the steps.
std::vector<LabelledStep> episode_steps(const LabelledTasks& tasks, const std::vector<record::Episode>& episodes);

// Judges the steps and returns the verdict of each one together with its label. `batch` steps are judged in one call;
// done(n) is called after each call with its number of steps, and false ends the work early.
std::vector<JudgedStep> judge_all(StepCritic& critic, const std::vector<LabelledStep>& steps, std::size_t batch,
                                  const std::function<bool(std::size_t)>& done = {});

}  // namespace agon::critic
