// env/env.h - the gym contract: one Env is one task instance at a time. Not thread-safe; different Envs may run on
// different threads.
//   auto env = make_env("charts", {.level = 2});
//   StepResult first = env->reset({Split::test, 17});
//   StepResult next = env->step({"<answer>7</answer>"});
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/message.h"
#include "core/rng.h"
#include "env/step_facts.h"

namespace agon::env {

struct Action {
  std::string text;  // what the policy wrote this turn
  std::vector<ToolCall> tool_calls;
};

struct Observation {
  std::vector<Part> parts;  // text and images of the next message
};

// A reward and its components, whose sum it is, each with its name ("accuracy", "format"). Always finite. Every turn
// that is not refused names its components, also those that are 0: an episode may be cut after any of them.
struct Reward {
  double total = 0;
  std::vector<std::pair<std::string, double>> components;
};

struct StepResult : StepFacts {
  Observation observation;
  Reward reward;
  bool terminated = false;  // the task has ended (answered, reached, given up)
  bool truncated = false;   // an outside limit (turns) has ended it
};

enum class Split { train, validation, test };

// Which task: same options, same bytes. test and validation: index < SuiteInfo::test_tasks, the same tasks for every
// seed. train: any index, drawn from (seed, index). No task of one split equals a task of another. A suite without a
// train split has no validation split either.
struct ResetOptions {
  Split split = Split::test;
  std::uint64_t index = 0;
  std::uint64_t seed = 0;
};

// What the suite knows of the task under way. `gold` is for logs and reports: no observation contains it.
struct TaskInfo {
  // "charts/2/test/17": suite, level, split, index (and "@seed" in train); a role (env/wrappers/role.h)
  std::string id;
  int level = 0;
  std::string kind;    // the suite's own classes ("sum", "count", "open_app")
  std::string prompt;  // the question or goal as the first observation states it
  Json gold;
  Json grading;  // the rule that compares answers (grading_of in env/grading/grader.h); null where the suite names none
};

enum class StepKind { perception, reasoning };
struct StepLabel {
  bool correct = false;
  StepKind kind = StepKind::reasoning;
  std::string reason;  // for a person: "the red bar is 4, not 5"
  // `truth`: what the step should say ("red is 4"). `claim`: the part of the step that is compared with it ("5"). Empty
  // `truth` means the correct step, empty `claim` the whole step.
  std::string truth, claim;
};

// A step seen in its turn. `before` is what the turn says before the step (steps parted by blank lines), `step` the
// step itself.
struct StepQuery {
  std::string before;
  std::string step;
};

// The named ways in which a right step is made wrong.
enum class ErrorKind { calculation, misread_value, wrong_object, wrong_condition, unjustified_jump };
inline constexpr std::array kErrorKinds = {ErrorKind::calculation, ErrorKind::misread_value, ErrorKind::wrong_object,
                                           ErrorKind::wrong_condition, ErrorKind::unjustified_jump};
std::string_view to_string(ErrorKind kind);
std::optional<ErrorKind> error_kind_of(std::string_view name);  // nothing for another name
std::string_view to_string(StepKind kind);
std::string_view to_string(Split split);

class Env {
 public:
  virtual ~Env() = default;

  // Starts what its episodes need besides the task and what takes long to start (a sandbox, an index), for all envs of
  // the process; without this call, reset and step start it. Throws Error if it is unavailable.
  virtual void prepare() {}
  // Starts the task of `options`. Throws Error when there is no such task.
  virtual StepResult reset(const ResetOptions& options) = 0;
  // One turn. Never throws for what a policy wrote; throws Error where something it needs is broken (a sandbox, a
  // search server); the episode then counts as failed, not as a reward of 0. A bad action is refused: `refused`, an
  // Observation that says so and reward 0. After terminated or truncated, and before the first reset, a step changes
  // nothing and is refused.
  virtual StepResult step(const Action& action) = 0;
  // An independent copy: the two futures do not see each other. Throws Error where an interpreter cannot be forked.
  virtual std::unique_ptr<Env> fork() const = 0;
  virtual const TaskInfo& task() const = 0;  // valid until the next reset

  // Ground truth for one step of the turn under way; nothing where the suite cannot tell.
  virtual std::optional<StepLabel> check_step(const StepQuery&) const { return std::nullopt; }
  // The expert's actions from here to the end of the episode; a suite without an expert returns nothing.
  // `rng` chooses among equally right ways.
  virtual std::optional<std::vector<Action>> demonstrate(Rng&) const { return std::nullopt; }
  // A whole turn that one mistake leads to a wrong answer: what comes after the mistake follows from it. Nothing where
  // the suite has none.
  virtual std::optional<Action> mistake(Rng&) const { return std::nullopt; }
  // A wrong version of a right step with an error of that kind; nothing where that kind does not fit the step.
  virtual std::optional<std::string> corrupt_step(const StepQuery&, ErrorKind, Rng&) const { return std::nullopt; }
};

using EnvFactory = std::function<std::unique_ptr<Env>()>;

}  // namespace agon::env
