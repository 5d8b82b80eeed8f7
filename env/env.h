// env/env.h - the Gym-style interface of all environments: an Env plays one task at a time. Not thread-safe; different
// Envs may run on different threads.
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

// A reward: the sum of its named components ("accuracy", "format"). Always finite. Every turn that is not refused lists
// all its components, zeros included, because an episode may be cut off after any turn.
struct Reward {
  double total = 0;
  std::vector<std::pair<std::string, double>> components;
};

struct StepResult : StepFacts {
  Observation observation;
  Reward reward;
  bool terminated = false;  // the task has ended (answered, reached, given up)
  bool truncated = false;   // a limit outside the task (turns) has ended it
};

enum class Split { train, validation, test };

// Selects a task: equal options give the same task, byte for byte. test and validation: `index` is below
// SuiteInfo::test_tasks, and the tasks are the same for every seed. train: any index; the task is drawn from (seed,
// index). No task occurs in two splits. A suite without a train split has no validation split either.
struct ResetOptions {
  Split split = Split::test;
  std::uint64_t index = 0;
  std::uint64_t seed = 0;
};

// Facts about the current task. `gold` is for logs and reports: no observation contains it.
struct TaskInfo {
  // "charts/2/test/17": suite, level, split, index (and "@seed" in train), role (env/wrappers/role.h)
  std::string id;
  int level = 0;
  std::string kind;    // the suite's own classes ("sum", "count", "open_app")
  std::string prompt;  // the question or goal as the first observation states it
  Json gold;
  Json grading;  // the rule that compares answers (grading_of in env/grading/grader.h); null if the suite names none
};

enum class StepKind { perception, reasoning };
struct StepLabel {
  bool correct = false;
  StepKind kind = StepKind::reasoning;
  std::string reason;  // for people: "the red bar is 4, not 5"
  // `truth`: what the step should say ("red is 4"). `claim`: the part of the step that is compared with it ("5"). Empty
  // `truth` means the correct step, empty `claim` the whole step.
  std::string truth, claim;
};

// A step in its context. `before` is the text of the turn before the step (steps separated by blank lines), `step` the
// step itself.
struct StepQuery {
  std::string before;
  std::string step;
};

// The kinds of error by which a right step is made wrong.
enum class ErrorKind { calculation, misread_value, wrong_object, wrong_condition, unjustified_jump };
inline constexpr std::array kErrorKinds = {ErrorKind::calculation, ErrorKind::misread_value, ErrorKind::wrong_object,
                                           ErrorKind::wrong_condition, ErrorKind::unjustified_jump};
std::string_view to_string(ErrorKind kind);
std::optional<ErrorKind> error_kind_of(std::string_view name);  // nothing for an unknown name
std::string_view to_string(StepKind kind);
std::string_view to_string(Split split);

class Env {
 public:
  virtual ~Env() = default;

  // Starts slow resources that the episodes need (a sandbox, an index); later forks share them. Without this call,
  // reset or step starts them. Throws Error if one is unavailable.
  virtual void prepare() {}
  // Starts the task of `options`. Throws Error if it does not exist.
  virtual StepResult reset(const ResetOptions& options) = 0;
  // Plays one turn. Never throws because of what a policy wrote. Throws Error if something it needs is broken (a
  // sandbox, a search server); the episode then counts as failed, not as a reward of 0. A bad action is refused:
  // `refused` is set, the Observation says why, and the reward is 0. After terminated or truncated, and before the
  // first reset, a step is refused and changes nothing.
  virtual StepResult step(const Action& action) = 0;
  // Returns an independent copy: neither env sees later steps of the other. Throws Error if an interpreter cannot be
  // forked.
  virtual std::unique_ptr<Env> fork() const = 0;
  virtual const TaskInfo& task() const = 0;  // valid until the next reset

  // Ground truth for one step of the current turn; nothing if the suite cannot tell.
  virtual std::optional<StepLabel> check_step(const StepQuery&) const { return std::nullopt; }
  // The expert's actions from here to the end of the episode; a suite without an expert returns nothing.
  // `rng` chooses among equally good ones.
  virtual std::optional<std::vector<Action>> demonstrate(Rng&) const { return std::nullopt; }
  // A whole turn whose answer is wrong because of one mistake; the text after the mistake follows from it. Nothing if
  // the suite has none.
  virtual std::optional<Action> mistake(Rng&) const { return std::nullopt; }
  // A wrong version of a right step with an error of this kind; nothing if the kind does not fit the step.
  virtual std::optional<std::string> corrupt_step(const StepQuery&, ErrorKind, Rng&) const { return std::nullopt; }
};

using EnvFactory = std::function<std::unique_ptr<Env>()>;

}  // namespace agon::env
