// env/kit/suite_task.h - shared parts of the procedural suites: the random stream of a task, its split, and an env
// whose only turn is the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rng.h"
#include "env/env.h"

namespace agon::env {

inline constexpr std::uint64_t kTestTasks = 1000;  // validation has as many

std::string task_id(std::string_view suite, int level, const ResetOptions& options);
// The random stream that the task is drawn from. Throws Error for an index outside the test or validation split.
Rng task_stream(std::string_view suite, int level, const ResetOptions& options);
// The split of a task with this content: one task in sixteen is test, one validation. `content` is equal for tasks that
// count as the same.
Split split_of(std::string_view content);
// Draws until a task falls in the split. generate(Rng&) returns a task; content_of(task) the text that split_of reads.
template <typename Generate, typename ContentOf>
auto draw_task(Rng& rng, Split split, Generate generate, ContentOf content_of) {
  for (;;) {
    auto task = generate(rng);
    if (split_of(content_of(task)) == split) return task;
  }
}

std::string joined_steps(const std::vector<std::string>& steps);  // separated by blank lines
// The result of a refused step.
StepResult refused_step(const std::string& why);

// An env of one turn: whatever the policy writes is graded and ends the task.
class SingleTurnEnv : public Env {
 public:
  StepResult step(const Action& action) final;
  const TaskInfo& task() const final { return task_; }
  std::optional<StepLabel> check_step(const StepQuery& query) const final;
  std::optional<std::vector<Action>> demonstrate(Rng& rng) const final;
  std::optional<Action> mistake(Rng& rng) const final;
  std::optional<std::string> corrupt_step(const StepQuery& query, ErrorKind kind, Rng& rng) const final;

 protected:
  // REQUIRES of derived classes: reset() ends with start().
  void start(TaskInfo task);
  // The suite's view of the task that start() began. None of these is called before start().
  virtual double accuracy(std::string_view text) const = 0;  // the reward of a turn, in [0, 1]
  virtual bool success(double accuracy) const { return accuracy >= 1; }
  // Optional for a suite: the expert's turn, a turn with a mistake, the label of a step, and a wrong version of a step
  // that label() finds right.
  virtual std::optional<std::string> solution() const { return std::nullopt; }
  virtual std::optional<std::string> mistaken_solution(Rng&) const { return std::nullopt; }
  virtual std::optional<StepLabel> label(const StepQuery&) const { return std::nullopt; }
  virtual std::optional<std::string> corrupted(const StepQuery&, ErrorKind, Rng&) const { return std::nullopt; }

 private:
  enum class State { idle, open, ended };
  TaskInfo task_;
  State state_ = State::idle;
};

}  // namespace agon::env
