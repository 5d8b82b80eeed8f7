// critic/labelled_steps.h - steps of a suite's tasks in their context, with the suite's own labels, to measure a
// critic. The labels are from env/wrappers/labelled_steps.h.
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
  JudgedStep truth;    // everything except the verdict; problem is the task's index, position counts on over its turns
  std::string reason;  // why it is wrong
  std::shared_ptr<const env::Env> env;
};

struct LabelledTasks {
  env::Suite suite;
  env::Split split = env::Split::test;
  std::uint64_t first_task = 0, tasks = 100, seed = 0;
};

// Steps of the expert's solutions: every step that the suite can label, as it is (source "expert") and once per kind of
// error that fits (source: the kind). done_one: called after each task; false ends the work early. Throws Error for a
// suite without an expert, or one that labels none of its steps.
std::vector<LabelledStep> expert_steps(const LabelledTasks& tasks, const std::function<bool()>& done_one = {});

// Steps that a policy wrote: every step that the suite can label (source "policy"). `episodes` are of the same suite as
// `tasks`; failed ones are left out.
std::vector<LabelledStep> episode_steps(const LabelledTasks& tasks, const std::vector<record::Episode>& episodes);

// The verdict of each step together with its label. `batch` steps are judged in one call; done(n) is called after each
// call.
std::vector<JudgedStep> judge_all(StepCritic& critic, const std::vector<LabelledStep>& steps, std::size_t batch,
                                  const std::function<bool(std::size_t)>& done = {});

}  // namespace agon::critic
