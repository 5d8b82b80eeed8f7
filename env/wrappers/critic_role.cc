#include "env/wrappers/critic_role.h"

#include <cassert>

#include "env/grading/single_rules.h"
#include "env/kit/suite_task.h"
#include "env/verdict.h"
#include "env/wrappers/env_wrapper.h"
#include "env/wrappers/labelled_steps.h"

namespace agon::env {
namespace {

void add(std::vector<Part>& parts, std::string_view text) {
  if (parts.empty() || !parts.back().is_text())
    parts.push_back(Part::of(std::string(text)));
  else
    parts.back().text += text;
}

void add(std::vector<Part>& parts, const Part& part) {
  if (part.is_text())
    add(parts, part.text);
  else
    parts.push_back(part);
}

// The number whose digits end a text; a tag at the very end is skipped.
std::optional<double> last_number(std::string_view text) {
  constexpr const char* kDigits = "0123456789";
  if (text.ends_with('>')) text = text.substr(0, text.rfind('<'));
  const std::size_t before = text.find_last_not_of(kDigits);
  return parse_number(before == text.npos ? text : text.substr(before + 1));
}

const char* relation(std::string_view truth, std::string_view claim, bool correct) {
  if (correct) return " = ";
  const auto is = last_number(truth), said = parse_number(claim);
  if (!is || !said || *is == *said) return " != ";
  return *is < *said ? " < " : " > ";
}

// A step of the expert's solution as a critic sees it, right or made wrong.
struct ShownStep {
  SolutionTurn turn;
  std::string before, right, step;
  std::string source = "expert";
  StepLabel label;
};

class CriticEnv final : public EnvWrapper {
 public:
  explicit CriticEnv(std::unique_ptr<Env> solver) : EnvWrapper(std::move(solver)) {}

  StepResult reset(const ResetOptions& options) override {
    StepResult first = EnvWrapper::reset(options);
    task_ = inner().task();
    Rng rng = Rng::derive(0, "critic", task_.id);
    std::vector<ShownStep> steps;
    for (const SolutionTurn& turn : expert_turns(inner(), first, rng))
      for (const LabelledTurnStep& step : labelled_steps(*turn.env, turn.text))
        if (step.label.correct)
          steps.push_back({turn, step.query.before, step.query.step, step.query.step, "expert", step.label});
    assert(!steps.empty());
    shown_ = rng.pick(steps);
    if (rng.chance(0.5)) make_wrong(rng);
    task_.id.append("/").append(kCritic);
    task_.gold = word_of(right_verdict());
    first.observation.parts = critic_request(shown_.turn.transcript, shown_.before, shown_.step);
    first.info["step_source"] = shown_.source;
    first.info["step_kind"] = to_string(shown_.label.kind);
    first.info["first_correct"] = shown_.label.correct;
    open_ = true;
    return first;
  }

  StepResult step(const Action& action) override {
    if (!open_) return refused_step("there is no task under way");
    open_ = false;
    const ParsedVerdict said = parse_verdict(action.text);
    const double right = said.verdict == right_verdict() ? 1 : 0;
    StepResult result;
    result.reward = {right, {{"accuracy", right}}};
    result.terminated = true;
    result.success = right == 1;
    result.info["first_correct"] = shown_.label.correct;
    if (said.verdict == StepVerdict::invalid) result.info["invalid_verdict"] = said.fault;
    return result;
  }

  std::unique_ptr<Env> fork() const override { return std::make_unique<CriticEnv>(*this); }
  const TaskInfo& task() const override { return task_; }
  // A reply here is about the solution: the suite cannot tell whether a step of the reply is right.
  std::optional<StepLabel> check_step(const StepQuery&) const override { return std::nullopt; }
  std::optional<std::string> corrupt_step(const StepQuery&, ErrorKind, Rng&) const override { return std::nullopt; }

  std::optional<std::vector<Action>> demonstrate(Rng&) const override {
    if (!open_) return std::vector<Action>{};
    return std::vector{Action{critique(shown_.label.correct), {}}};
  }
  std::optional<Action> mistake(Rng&) const override {
    if (!open_) return std::nullopt;
    return Action{critique(!shown_.label.correct), {}};
  }

 private:
  std::string critique(bool correct) const {
    const StepLabel& label = shown_.label;
    return expert_critique(label.truth.empty() ? shown_.right : label.truth,
                           label.claim.empty() ? shown_.step : label.claim, correct);
  }
  StepVerdict right_verdict() const { return shown_.label.correct ? StepVerdict::correct : StepVerdict::incorrect; }

  // Leaves the step right if no kind of error fits.
  void make_wrong(Rng& rng) {
    const auto wrong = corrupted(*shown_.turn.env, {shown_.before, shown_.right}, rng);
    if (!wrong) return;
    shown_.step = wrong->step;
    shown_.source = to_string(wrong->kind);
    shown_.label = wrong->label;
  }

  TaskInfo task_;
  ShownStep shown_;
  bool open_ = false;
};

}  // namespace

std::vector<Part> step_request(std::span<const Message> transcript, std::string_view before, std::string_view heading,
                               std::string_view step) {
  std::vector<Part> parts;
  bool problem_shown = false, solution_begun = false;
  for (const Message& message : transcript) {
    if (message.role == Role::system) continue;
    add(parts, !problem_shown ? "## Problem\n" : !solution_begun ? "\n\n## Partial Solution\n" : "\n\n");
    solution_begun = problem_shown;
    problem_shown = true;
    for (const Part& part : message.parts) add(parts, part);
  }
  assert(problem_shown);
  if (!solution_begun) add(parts, "\n\n## Partial Solution\n");
  if (solution_begun && !before.empty()) add(parts, "\n\n");
  add(parts, before.empty() && !solution_begun ? std::string_view(kNothingYet) : before);
  add(parts, "\n\n## ");
  add(parts, heading);
  add(parts, "\n");
  add(parts, step);
  return parts;
}

std::vector<Part> critic_request(std::span<const Message> transcript, std::string_view before, std::string_view step) {
  return step_request(transcript, before, "Last Step", step);
}

std::string expert_critique(std::string_view truth, std::string_view claim, bool correct) {
  std::string text(truth);
  text.append(relation(truth, claim, correct)).append(claim).append("\n\n");
  return text.append(tagged(correct ? StepVerdict::correct : StepVerdict::incorrect));
}

std::unique_ptr<Env> critic_env(std::unique_ptr<Env> solver) { return std::make_unique<CriticEnv>(std::move(solver)); }

}  // namespace agon::env
