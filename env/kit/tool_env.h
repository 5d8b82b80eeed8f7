// env/kit/tool_env.h - the base class of the suites with tools: in each of a few turns, the policy calls a tool or
// answers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/env.h"
#include "env/kit/episode_tools.h"

namespace agon::env {

inline constexpr int kToolTurns = 5;  // as in the loops of Visual-ARFT (arXiv 2505.14246)

class ToolEnv : public Env {
 public:
  StepResult step(const Action& action) final;
  const TaskInfo& task() const final { return task_; }

 protected:
  ToolEnv() = default;
  ToolEnv(const ToolEnv&) = default;  // forks the tools
  ToolEnv& operator=(const ToolEnv&) = delete;

  // REQUIRES of derived classes: reset() ends with start(). A task that is not answered within max_turns turns is
  // truncated.
  void start(TaskInfo task, std::vector<std::shared_ptr<tools::Tool>> tools, int max_turns = kToolTurns);
  // Plays one turn of the open task. If the turn answers, the result is terminated and has `success` and a reward.
  virtual StepResult act(const Action& action) = 0;

  bool open() const { return state_ == State::open; }
  int turns_left() const { return max_turns_ - turns_; }
  EpisodeTools& tools() { return *tools_; }
  const EpisodeTools& tools() const { return *tools_; }

 private:
  enum class State { idle, open, ended };
  TaskInfo task_;
  State state_ = State::idle;
  int turns_ = 0, max_turns_ = kToolTurns;
  std::optional<EpisodeTools> tools_;
};

// The request of a turn: the kind of the first tag decides. Of several <answer>, the last one counts. A tool call in
// Action::tool_calls takes precedence.
struct Move {
  std::optional<ToolCall> call;
  std::optional<std::string> answer;   // of <answer>, or \boxed
  std::optional<std::string> problem;  // of <problem>
};
Move move_of(const Action& action, const std::vector<tools::ToolSpec>& tools);

// The query without <think> tags, in `step` and in `before`.
StepQuery without_think_tags(const StepQuery& query);
// Returns `bare` with the <think> and </think> tags with which `step` begins and ends. An answer or a call stays bare,
// because it is not a thought.
std::string with_think_tags_of(std::string_view step, std::string bare);
// "<information>...</information>" around lines of documents.
std::string information(const std::string& documents);
// "<think>THOUGHT</think>", a blank line, REST.
std::string thought(const std::string& thought, const std::string& rest);

}  // namespace agon::env
