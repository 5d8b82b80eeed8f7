#include "env/wrappers/sneaky_role.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"
#include "env/kit/suite_task.h"
#include "env/wrappers/critic_role.h"
#include "env/wrappers/env_wrapper.h"
#include "env/wrappers/labelled_steps.h"

namespace agon::env {
namespace {

constexpr std::string_view kTypeOpen = "<type>", kTypeClose = "</type>", kStepOpen = "<step>", kStepClose = "</step>";
constexpr std::size_t kShown = 60;  // bytes shown of an unknown type

SneakyStep invalid(std::string fault) { return {{}, {}, {}, std::move(fault)}; }

// A right step of the expert's solution that can be made wrong.
struct RightStep {
  SolutionTurn turn;
  StepQuery query;
  CorruptedStep wrong;  // one way to make it so
};

class SneakyEnv final : public EnvWrapper {
 public:
  explicit SneakyEnv(std::unique_ptr<Env> solver) : EnvWrapper(std::move(solver)) {}

  StepResult reset(const ResetOptions& options) override {
    StepResult first = EnvWrapper::reset(options);
    task_ = inner().task();
    Rng rng = Rng::derive(0, "sneaky", task_.id);
    const std::vector<RightStep> steps = steps_to_corrupt(first, rng);
    if (steps.empty()) throw Error("sneaky: no step of task {} can be made wrong.", task_.id);
    shown_ = rng.pick(steps);
    task_.id.append("/").append(kSneaky);
    task_.gold = nullptr;
    first.observation.parts =
        step_request(shown_.turn.transcript, shown_.query.before, "Correct Step", shown_.query.step);
    open_ = true;
    return first;
  }

  StepResult step(const Action& action) override {
    if (!open_) return refused_step("there is no task under way");
    open_ = false;
    const SneakyStep said = parse_sneaky(action.text);
    const auto label =
        said.fault.empty() ? shown_.turn.env->check_step({shown_.query.before, said.step}) : std::nullopt;
    const double wrong = label && !label->correct ? 1 : 0;
    StepResult result;
    result.reward = {wrong, {{"accuracy", wrong}}};
    result.terminated = true;
    result.success = wrong == 1;
    if (!said.fault.empty()) {
      result.info["invalid_sneaky"] = said.fault;
    } else {
      result.info["sneaky_type"] = to_string(said.kind);
      result.info["sneaky_step"] = said.step;
    }
    return result;
  }

  std::unique_ptr<Env> fork() const override { return std::make_unique<SneakyEnv>(*this); }
  const TaskInfo& task() const override { return task_; }
  // A reply here is about the solution: the suite cannot tell whether a step of the reply is right.
  std::optional<StepLabel> check_step(const StepQuery&) const override { return std::nullopt; }
  std::optional<std::string> corrupt_step(const StepQuery&, ErrorKind, Rng&) const override { return std::nullopt; }

  std::optional<std::vector<Action>> demonstrate(Rng& rng) const override {
    if (!open_) return std::vector<Action>{};
    // Whether a kind of error fits may depend on rng; shown_.wrong always does.
    const CorruptedStep wrong = corrupted(*shown_.turn.env, shown_.query, rng).value_or(shown_.wrong);
    return std::vector{Action{sneaky_text(wrong.kind, wrong.label.reason, wrong.step), {}}};
  }
  // The step stays right.
  std::optional<Action> mistake(Rng& rng) const override {
    if (!open_) return std::nullopt;
    const auto kind = kErrorKinds.at(static_cast<std::size_t>(rng.between(0, kErrorKinds.size() - 1)));
    return Action{sneaky_text(kind, "", shown_.query.step), {}};
  }

 private:
  std::vector<RightStep> steps_to_corrupt(const StepResult& first, Rng& rng) const {
    std::vector<RightStep> steps;
    for (const SolutionTurn& turn : expert_turns(inner(), first, rng))
      for (const LabelledTurnStep& step : labelled_steps(*turn.env, turn.text))
        if (step.label.correct)
          if (const auto wrong = corrupted(*turn.env, step.query, rng)) steps.push_back({turn, step.query, *wrong});
    return steps;
  }

  TaskInfo task_;
  RightStep shown_;
  bool open_ = false;
};

}  // namespace

SneakyStep parse_sneaky(std::string_view text) {
  const std::size_t type = text.find(kTypeOpen), type_end = text.find(kTypeClose, type);
  if (type == std::string_view::npos || type_end == std::string_view::npos) return invalid("no <type>...</type>");
  const std::size_t step = text.rfind(kStepOpen), step_end = text.find(kStepClose, step);
  if (step == std::string_view::npos || step_end == std::string_view::npos) return invalid("no <step>...</step>");
  const std::size_t explained = type_end + kTypeClose.size();
  if (step < explained) return invalid("<step> stands before </type>");
  SneakyStep sneaky;
  sneaky.explanation = trim(text.substr(explained, step - explained));
  sneaky.step = trim(text.substr(step + kStepOpen.size(), step_end - step - kStepOpen.size()));
  if (sneaky.step.empty()) return invalid("the step is empty");
  if (sneaky.step.find("\n\n") != std::string::npos) return invalid("the step has several paragraphs");
  const std::string_view name = trim(text.substr(type + kTypeOpen.size(), type_end - type - kTypeOpen.size()));
  const auto kind = error_kind_of(name);
  if (!kind) return invalid(fmt::format("'{}' is no kind of error", valid_utf8(name.substr(0, kShown))));
  sneaky.kind = *kind;
  return sneaky;
}

std::string sneaky_text(ErrorKind kind, std::string_view explanation, std::string_view step) {
  return fmt::format("{}{}{}\n\n{}{}{}{}{}", kTypeOpen, to_string(kind), kTypeClose, explanation,
                     explanation.empty() ? "" : "\n\n", kStepOpen, step, kStepClose);
}

std::unique_ptr<Env> sneaky_env(std::unique_ptr<Env> solver) { return std::make_unique<SneakyEnv>(std::move(solver)); }

}  // namespace agon::env
