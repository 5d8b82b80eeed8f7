// tests/support/toy_env.h - an env small enough to read at a glance, and one that breaks a contract on purpose.
// A task asks for index + 1 as "<answer>N</answer>". A wrong answer leaves the task open; the third one truncates it.
#pragma once

#include <memory>
#include <string>

#include "core/error.h"
#include "env/env.h"
#include "env/suite.h"

namespace agon::env {

inline constexpr std::uint64_t kToyTasks = 10;

// The contract that the env breaks; nothing: none.
enum class Fault {
  nothing,
  random_start,
  steps_before_reset,
  steps_after_end,
  throws,
  reward_not_finite,
  components_do_not_add_up,
  gives_gold_away,
  shared_forks,
  refusal_counts,
  failed_reset_forgets,
  same_ids,
  train_is_test,
  no_prompt,
  bad_demonstration,
  wrong_label,
  corruption_is_right,
  never_ends,
  no_last_task,
  rewards_refusal,
  bytes_in_info,
  silent_end,
};

class ToyEnv : public Env {
 public:
  explicit ToyEnv(Fault fault = Fault::nothing) : state_(std::make_shared<State>()), fault_(fault) {}

  StepResult reset(const ResetOptions& options) override {
    if (options.split == Split::test && options.index >= kToyTasks && fault_ != Fault::no_last_task) {
      if (fault_ == Fault::failed_reset_forgets) *state_ = State();
      throw Error("toy: no task {}", options.index);
    }
    *state_ = State();
    state_->open = true;
    state_->gold = std::to_string(options.index + (options.split == Split::test ? 1 : 1001));
    if (fault_ == Fault::train_is_test) state_->gold = std::to_string(options.index + 1);
    task_.id = "toy/" + std::string(to_string(options.split)) + "/" +
               (fault_ == Fault::same_ids ? "1" : std::to_string(options.index));
    task_.level = 1;
    task_.kind = "count";
    task_.prompt = "What is behind " + std::to_string(std::stoi(state_->gold) - 1) + "?";
    if (fault_ == Fault::random_start) task_.prompt += std::to_string(++resets());
    task_.gold = state_->gold;
    StepResult first = said(fault_ == Fault::no_prompt ? "Well?" : task_.prompt);
    if (fault_ == Fault::gives_gold_away) first.observation.parts.push_back(Part::of(right()));
    return first;
  }

  StepResult step(const Action& action) override {
    if (!state_->open && !may_step_closed()) return refused("there is no task");
    if (fault_ == Fault::throws && action.text.empty()) throw Error("toy: nothing written");
    if (action.text.find("<answer>") == std::string::npos || !action.tool_calls.empty()) {
      if (fault_ == Fault::refusal_counts) ++state_->turns;
      return refused("write <answer>N</answer>");
    }
    ++state_->turns;
    StepResult result = said("turn " + std::to_string(state_->turns));
    result.terminated = action.text == right();
    result.truncated = !result.terminated && state_->turns >= 3 && fault_ != Fault::never_ends;
    state_->open = !result.terminated && !result.truncated;
    result.reward.total = result.terminated ? 1.0 / state_->turns : 0;
    if (fault_ == Fault::reward_not_finite) result.reward.total = 0.0 / 0.0;
    const double accuracy = result.reward.total + (fault_ == Fault::components_do_not_add_up ? 1 : 0);
    result.reward.components = {{"accuracy", accuracy}};
    if (!state_->open && fault_ != Fault::silent_end) result.success = result.terminated;
    return result;
  }

  std::unique_ptr<Env> fork() const override {
    auto copy = std::make_unique<ToyEnv>(*this);
    if (fault_ != Fault::shared_forks) copy->state_ = std::make_shared<State>(*state_);
    return copy;
  }
  const TaskInfo& task() const override { return task_; }

  std::optional<StepLabel> check_step(const StepQuery& query) const override {
    if (query.step != good_step() && query.step != "no") return {};
    return StepLabel{(query.step == good_step()) != (fault_ == Fault::wrong_label), StepKind::reasoning, ""};
  }
  std::optional<std::vector<Action>> demonstrate(Rng&) const override {
    if (!state_->open) return std::vector<Action>{};
    if (fault_ == Fault::bad_demonstration) return std::vector<Action>{{"I do not know", {}}};
    return std::vector<Action>{{right(), {}}};
  }
  std::optional<std::string> corrupt_step(const StepQuery&, ErrorKind kind, Rng&) const override {
    if (kind != ErrorKind::calculation) return {};
    return fault_ == Fault::corruption_is_right ? good_step() : "no";
  }

 private:
  struct State {
    bool open = false;
    int turns = 0;
    std::string gold;
  };
  static int& resets() {
    static int count = 0;
    return count;
  }
  static std::string good_step() { return "one more"; }
  std::string right() const {
    const bool explains = fault_ == Fault::wrong_label || fault_ == Fault::corruption_is_right;
    return (explains ? good_step() + "\n\n" : "") + "<answer>" + state_->gold + "</answer>";
  }
  bool may_step_closed() const {
    return state_->turns == 0 ? fault_ == Fault::steps_before_reset : fault_ == Fault::steps_after_end;
  }
  static StepResult said(const std::string& text) {
    StepResult result;
    result.observation.parts.push_back(Part::of(text));
    return result;
  }
  StepResult refused(const std::string& why) const {
    StepResult result = said(why);
    result.refused = fault_ == Fault::bytes_in_info ? "\xff" : why;
    if (fault_ == Fault::rewards_refusal) {
      result.reward.total = 1;
      result.reward.components = {{"accuracy", 1}};
    }
    return result;
  }

  std::shared_ptr<State> state_;
  TaskInfo task_;
  Fault fault_;
};

inline SuiteInfo toy_info() {
  SuiteInfo info;
  info.name = "toy";
  info.test_tasks = kToyTasks;
  info.max_turns = 3;
  return info;
}

}  // namespace agon::env
