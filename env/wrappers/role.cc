#include "env/wrappers/role.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "env/grading/published_rules.h"
#include "env/kit/schemas.h"
#include "env/protocol.h"
#include "env/wrappers/critic_role.h"
#include "env/wrappers/env_wrapper.h"
#include "env/wrappers/sneaky_role.h"
#include "env/wrappers/two_turn.h"

namespace agon::env {
namespace {

constexpr const char* kRefiner = "refiner";
constexpr const char* kVerifier = "verifier";

const char* verdict_on(bool correct) { return correct ? "yes" : "no"; }

// An env of one turn that shows a first solution after the task.
class SecondLookEnv : public EnvWrapper {
 public:
  SecondLookEnv(std::unique_ptr<Env> solver, std::string role, std::string request)
      : EnvWrapper(std::move(solver)), role_(std::move(role)), request_(std::move(request)) {}

  StepResult reset(const ResetOptions& options) override {
    StepResult first = EnvWrapper::reset(options);
    const std::string solution = first_solution();
    first_correct_ = inner().fork()->step({solution, {}}).success.value_or(false);
    task_ = inner().task();
    task_.id += "/" + role_;
    first.observation.parts.push_back(Part::of("\n\nSolution:\n" + solution + "\n\n" + request_));
    first.info["first_solution"] = solution;
    first.info["first_correct"] = first_correct_;
    return first;
  }

  StepResult step(const Action& action) override {
    StepResult answer = EnvWrapper::step(action);
    if (answer.refused.has_value()) return answer;
    assert(answer.terminated || answer.truncated);
    answer.info["first_correct"] = first_correct_;
    return answer;
  }

  const TaskInfo& task() const override { return task_; }

 protected:
  bool first_correct() const { return first_correct_; }
  void set_gold(Json gold) { task_.gold = std::move(gold); }

 private:
  std::string first_solution() const {
    Rng rng = Rng::derive(0, "first solution", inner().task().id);
    if (rng.chance(0.5))
      if (std::optional<Action> wrong = inner().mistake(rng)) return std::move(wrong->text);
    return inner().demonstrate(rng).value().at(0).text;
  }

  std::string role_, request_;
  TaskInfo task_;
  bool first_correct_ = false;
};

class RefinerEnv final : public SecondLookEnv {
 public:
  using SecondLookEnv::SecondLookEnv;
  std::unique_ptr<Env> fork() const override { return std::make_unique<RefinerEnv>(*this); }
};

class VerifierEnv final : public SecondLookEnv {
 public:
  using SecondLookEnv::SecondLookEnv;
  std::unique_ptr<Env> fork() const override { return std::make_unique<VerifierEnv>(*this); }

  StepResult reset(const ResetOptions& options) override {
    StepResult first = SecondLookEnv::reset(options);
    set_gold(verdict_on(first_correct()));
    return first;
  }

  StepResult step(const Action& action) override {
    StepResult answer = SecondLookEnv::step(action);
    if (answer.refused.has_value()) return answer;
    const std::optional<std::string> verdict = extract_answer(action.text);
    const bool right = verdict && normalized_match(*verdict, verdict_on(first_correct()));
    answer.reward = {right ? 1.0 : 0.0, {{"accuracy", right ? 1.0 : 0.0}}};
    answer.success = right;
    return answer;
  }

  // A reply here is about the solution: the suite cannot tell whether a step of the reply is right.
  std::optional<StepLabel> check_step(const StepQuery&) const override { return std::nullopt; }
  std::optional<std::string> corrupt_step(const StepQuery&, ErrorKind, Rng&) const override { return std::nullopt; }
  std::optional<std::vector<Action>> demonstrate(Rng& rng) const override { return said(first_correct(), rng); }
  std::optional<Action> mistake(Rng& rng) const override {
    const auto actions = said(!first_correct(), rng);
    return actions && !actions->empty() ? std::optional(actions->front()) : std::nullopt;
  }

 private:
  // The expert's remaining actions, each with the verdict as its text.
  std::optional<std::vector<Action>> said(bool correct, Rng& rng) const {
    std::optional<std::vector<Action>> actions = inner().demonstrate(rng);
    if (!actions) return actions;
    for (Action& action : *actions) action.text = wrap(Tag::answer, verdict_on(correct));
    return actions;
  }
};

}  // namespace

std::vector<std::string> role_names() {
  return {std::string(kCritic), kRefiner, std::string(kSneaky), kSolver, kVerifier};
}

SuiteInfo role_info(SuiteInfo info, const std::string& role) {
  const std::vector<std::string> names = role_names();
  if (std::find(names.begin(), names.end(), role) == names.end())
    throw Error("{}", unknown_name_message("role", role, names));
  if (role == kSolver) return info;
  const bool any_turn = role == kCritic || role == kSneaky;
  if (info.max_turns != 1 && !any_turn)
    throw Error(
        "suite {}: its episodes have up to {} turns, and a {} looks at a single answer. Choose a suite of one turn, or "
        "role solver.",
        info.name, info.max_turns, role);
  if (!info.has_expert)
    throw Error("suite {}: it has no expert to write the solution that a {} looks at. Choose another suite.", info.name,
                role);
  if (role == kRefiner) return info;
  info.max_turns = 1;
  if (role == kCritic) {
    info.instructions = kCriticInstructions;
    info.metric = "verdict";
    info.action_schema = text_action_schema("Free text, then <Answer>Correct</Answer> or <Answer>Incorrect</Answer>.");
    return info;
  }
  if (role == kSneaky) {
    info.instructions = kSneakyInstructions;
    info.metric = "wrong steps";
    info.action_schema = text_action_schema("<type>KIND OF ERROR</type>, free text, <step>STEP</step>.");
    return info;
  }
  info.instructions = "Check the solution. End with <answer>yes</answer> or <answer>no</answer>.";
  info.metric = "verdict";
  info.action_schema = text_action_schema("Free text, then <answer>yes</answer> or <answer>no</answer>.");
  return info;
}

std::unique_ptr<Env> role_env(std::unique_ptr<Env> solver, const std::string& role, const std::string& reexamine) {
  if (role == kSolver) return solver;
  if (role == kCritic) return critic_env(std::move(solver));
  if (role == kSneaky) return sneaky_env(std::move(solver));
  if (role == kVerifier) return std::make_unique<VerifierEnv>(std::move(solver), role, kVerify);
  return std::make_unique<RefinerEnv>(std::move(solver), role, reexamine.empty() ? kReexamine : reexamine);
}

}  // namespace agon::env
