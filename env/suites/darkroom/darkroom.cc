// The suite darkroom: code has to repair a picture before the question about it can be answered.
#include <utility>

#include "env/kit/baseline.h"
#include "env/kit/image_repair.h"
#include "env/kit/schemas.h"
#include "env/kit/suite_task.h"
#include "env/kit/tool_env.h"
#include "env/protocol.h"
#include "env/suites/charts/corrupt.h"
#include "env/suites/charts/picture.h"
#include "env/suites/charts/steps.h"
#include "env/suites/darkroom/task.h"
#include "env/suites/suites.h"
#include "tools/python_tool.h"

namespace agon::env {
namespace {

class Darkroom final : public ToolEnv {
 public:
  Darkroom(int level, Baseline baseline) : level_(level), baseline_(baseline) {}

  void prepare() override {
    if (baseline_ == Baseline::none) tools::Interpreters::of_process()->start();
  }

  StepResult reset(const ResetOptions& options) override {
    Rng rng = task_stream("darkroom", level_, options);
    dark_ = draw_darkroom_task(level_, options.split, rng);
    named_ = false;
    const std::string id = task_id("darkroom", level_, options);
    start({id, level_, dark_.kind, dark_.prompt, gold_answer(dark_.chart)}, mending_tools(baseline_, id),
          baseline_ == Baseline::none ? kToolTurns : 1);
    tools().add_picture(dark_.shown.picture);
    StepResult first;
    first.observation.parts = {Part::of(dark_.shown.picture), Part::of(dark_.prompt)};
    first.info["objects"] = darkroom_objects(dark_, dark_.shown.picture);
    return first;
  }

  std::unique_ptr<Env> fork() const override { return std::make_unique<Darkroom>(*this); }

  std::optional<StepLabel> check_step(const StepQuery& query) const override {
    if (!open()) return std::nullopt;
    const StepQuery bare = without_think_tags(query);
    const Move move = move_of({bare.step, {}}, tools().specs());
    if (move.call) return label_code(*move.call);
    const auto defects = move.problem ? parse_defects(*move.problem) : parse_description_of_defects(bare.step);
    if (defects || move.problem) return label_defects(defects);
    return check_chart_step(dark_.chart, bare);
  }

  std::optional<std::vector<Action>> demonstrate(Rng&) const override {
    if (!open()) return std::nullopt;
    const std::vector<std::string> steps = solve_chart(dark_.chart);
    if (baseline_ == Baseline::direct) return std::vector<Action>{{steps.back(), {}}};
    std::vector<Action> actions;
    const bool fresh = tools().pictures().size() == 1;
    if (fresh && !named_ && turns_left() >= 3) actions.push_back({naming_turn(dark_.defects), {}});
    if (fresh && !dark_.defects.empty() && turns_left() >= 2)
      actions.push_back({mending_turn(dark_, dark_.defects), {}});
    actions.push_back({answering_turn(steps), {}});
    return actions;
  }

  std::optional<Action> mistake(Rng& rng) const override {
    if (!open()) return std::nullopt;
    const std::vector<std::string> steps = solve_chart_wrongly(dark_.chart, rng);
    return steps.empty() ? std::nullopt : std::optional(Action{answering_turn(steps), {}});
  }

  std::optional<std::string> corrupt_step(const StepQuery& query, ErrorKind kind, Rng& rng) const override;

 private:
  StepResult act(const Action& action) override;
  StepResult run(const ToolCall& call);
  StepResult grade(const std::string& answer) const;
  std::optional<std::string> corrupt_bare(const StepQuery& bare, ErrorKind kind, Rng& rng) const;
  std::optional<StepLabel> label_defects(const std::optional<Defects>& named) const;
  StepLabel label_code(const ToolCall& call) const;

  int level_;
  Baseline baseline_;
  DarkroomTask dark_;
  bool named_ = false;  // the policy has named the defects correctly
};

StepResult Darkroom::act(const Action& action) {
  const Move move = move_of(action, tools().specs());
  if (move.answer || baseline_ != Baseline::none) return grade(move.answer.value_or(""));
  if (move.call) return run(*move.call);
  StepResult result = answer_problem(move.problem);
  if (result.refused.has_value()) return result;
  const bool right = parse_defects(*move.problem) == dark_.defects;
  named_ = named_ || right;
  result.step_correct = right;
  return result;
}

StepResult Darkroom::run(const ToolCall& call) {
  const Image before = tools().pictures().back();
  StepResult result = run_code(call, tools());
  const Image& after = tools().pictures().back();
  result.step_correct = mends(dark_, before, after);
  if (!(after == before)) result.info["objects"] = darkroom_objects(dark_, after);
  return result;
}

StepResult Darkroom::grade(const std::string& answer) const {
  const bool right = is_gold_answer(dark_.chart, answer);
  StepResult result;
  result.reward = {right ? 1.0 : 0.0, {{"accuracy", right ? 1.0 : 0.0}}};
  result.terminated = true;
  result.success = right;
  result.step_correct = right;
  return result;
}

// Only for the picture as first shown: the defects of a picture that code has changed are unknown.
std::optional<StepLabel> Darkroom::label_defects(const std::optional<Defects>& named) const {
  if (tools().pictures().size() > 1) return std::nullopt;
  const bool right = named == dark_.defects;
  const std::string are = describe_defects(dark_.defects);
  return StepLabel{right, StepKind::perception, right ? "" : are, are, named ? describe_defects(*named) : "nothing"};
}

// Code is right if it repairs the picture. To find out, it runs in a fork.
StepLabel Darkroom::label_code(const ToolCall& call) const {
  EpisodeTools trial = tools();
  const tools::ToolResult called = trial.call(call);
  if (called.error) return {false, StepKind::reasoning, "the code fails: " + called.error->message};
  const bool right = mends(dark_, tools().pictures().back(), trial.pictures().back());
  return {right, StepKind::reasoning, right ? "" : "the picture is no nearer to what it was",
          describe_defects(dark_.defects), right ? describe_defects(dark_.defects) : "another"};
}

// The paragraph after the thought.
std::string call_of(const std::string& turn) { return turn.substr(turn.find("\n\n") + 2); }

std::optional<std::string> Darkroom::corrupt_step(const StepQuery& query, ErrorKind kind, Rng& rng) const {
  const auto label = check_step(query);
  if (!label || !label->correct) return std::nullopt;
  auto wrong = corrupt_bare(without_think_tags(query), kind, rng);
  if (wrong) *wrong = with_think_tags_of(query.step, std::move(*wrong));
  return wrong;
}

std::optional<std::string> Darkroom::corrupt_bare(const StepQuery& bare, ErrorKind kind, Rng& rng) const {
  const Move move = move_of({bare.step, {}}, tools().specs());
  if (!move.problem && !move.call && !parse_description_of_defects(bare.step))
    return corrupt_chart_step(dark_.chart, bare, kind, rng);
  if (kind != ErrorKind::misread_value) return std::nullopt;
  Defects wrong = dark_.defects;
  while (wrong == dark_.defects || wrong.empty()) wrong = {static_cast<Defect>(rng.between(0, kDefects - 1))};
  if (move.problem) return call_of(naming_turn(wrong));
  if (!move.call) return describe_defects(wrong);
  std::string call = call_of(mending_turn(dark_, wrong));
  const auto verdict = check_step({bare.before, call});
  return verdict && !verdict->correct ? std::optional(std::move(call)) : std::nullopt;
}

}  // namespace

SuiteDefinition darkroom_suite(const SuiteOptions& options) {
  const Baseline baseline = baseline_from(options.baseline);
  SuiteInfo info;
  info.name = "darkroom";
  info.description =
      "Code: repair a chart's picture (rotated, dark, pale, blurred, noisy or part of a page), then answer";
  info.instructions = baseline == Baseline::none ? kMendingInstructions : baseline_instructions(baseline);
  info.baselines = {"direct", "cot"};
  info.levels = kDarkroomLevels;
  info.default_level = 1;
  info.test_tasks = kTestTasks;
  info.max_turns = baseline == Baseline::none ? kToolTurns : 1;
  info.metric = "answer";
  info.observation_schema = message_schema();
  info.action_schema = text_action_schema(kMendingTurns);
  info.object_classes = chart_object_names();
  return {std::move(info), [baseline](int level) { return std::make_unique<Darkroom>(level, baseline); }};
}

}  // namespace agon::env
