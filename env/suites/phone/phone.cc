// env/suites/phone/phone.cc - the phone suite: GUI steps on a simulated phone, many turns an episode.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "env/kit/schemas.h"
#include "env/kit/suite_task.h"
#include "env/protocol.h"
#include "env/suites/phone/corrupt.h"
#include "env/suites/phone/screen.h"
#include "env/suites/phone/task.h"
#include "env/suites/suites.h"

namespace agon::env {
namespace {

using phone::State;
using phone::Task;

constexpr int kMaxTurns = 10;

std::string written(const GuiAction& action) { return wrap(Tag::answer, format_gui_action(action)); }

// The action that a turn holds: its last <answer>, else the whole of it.
std::optional<GuiAction> action_in(std::string_view turn) {
  return parse_gui_action(extract_answer(turn).value_or(std::string(turn)));
}

Json objects_on(const phone::Layout& layout, const State& state) {
  Json objects = Json::array();
  for (const phone::Target& target : phone::targets(layout, state))
    objects.push_back({{"name", phone::name_of(target, state)},
                       {"box", {target.box.x1, target.box.y1, target.box.x2, target.box.y2}}});
  return objects;
}

// One expert's way from `state` to the end; empty if success is impossible.
std::vector<GuiAction> expert_way(const Task& task, State state, Rng& rng) {
  std::vector<GuiAction> way;
  while (true) {
    const std::vector<GuiAction> right = phone::right_actions(task.layout, task.goal, state);
    if (right.empty()) return {};
    way.push_back(rng.pick(right));
    if (phone::ends_episode(way.back())) return way;
    phone::apply(task.layout, way.back(), state);
  }
}

class PhoneEnv final : public Env {
 public:
  explicit PhoneEnv(int level) : level_(level) {}

  StepResult reset(const ResetOptions& options) override {
    Rng rng = task_stream("phone", level_, options);
    task_ = draw_task(
        rng, options.split, [&](Rng& stream) { return phone::make_task(level_, stream); }, phone::content_of);
    state_ = task_.start;
    turns_ = 0;
    phase_ = Phase::open;
    describe_task(options);
    StepResult result = show();
    result.observation.parts.insert(result.observation.parts.begin(), Part::of(task_.goal.text));
    return result;
  }

  StepResult step(const Action& action) override {
    if (phase_ == Phase::idle) return refuse_all("There is no task yet: reset first.");
    if (phase_ == Phase::ended) return refuse_all("The task has ended: reset to start another.");
    ++turns_;
    const auto wanted = action.tool_calls.empty() ? action_in(action.text) : std::nullopt;
    StepResult result = wanted ? act(*wanted) : refuse("That is not an action.");
    result.truncated = !result.terminated && turns_ >= kMaxTurns;
    if (result.terminated || result.truncated) {
      phase_ = Phase::ended;
      result.success = result.reward.total == 1;
    }
    return result;
  }

  std::unique_ptr<Env> fork() const override { return std::make_unique<PhoneEnv>(*this); }
  const TaskInfo& task() const override { return info_; }

  std::optional<StepLabel> check_step(const StepQuery& query) const override {
    if (phase_ != Phase::open) return std::nullopt;
    const auto action = action_in(query.step);
    if (!action) return StepLabel{false, StepKind::reasoning, "not an action"};
    const bool points = action->type == GuiActionType::click || action->type == GuiActionType::long_press;
    StepLabel label{phone::is_right(task_.layout, task_.goal, state_, *action),
                    points ? StepKind::perception : StepKind::reasoning, ""};
    if (!label.correct) label.reason = phone::why_wrong(task_.layout, task_.goal, state_);
    return label;
  }

  std::optional<std::vector<Action>> demonstrate(Rng& rng) const override {
    if (phase_ != Phase::open) return std::nullopt;
    std::vector<Action> actions;
    for (const GuiAction& action : expert_way(task_, state_, rng)) actions.push_back({written(action), {}});
    if (actions.empty()) return std::nullopt;
    return actions;
  }

  std::optional<std::string> corrupt_step(const StepQuery& query, ErrorKind kind, Rng& rng) const override {
    if (phase_ != Phase::open) return std::nullopt;
    const auto action = action_in(query.step);
    if (!action) return std::nullopt;
    const auto wrong = phone::corrupted(task_.layout, task_.goal, state_, *action, kind, rng);
    if (!wrong) return std::nullopt;
    return extract_answer(query.step) ? written(*wrong) : format_gui_action(*wrong);
  }

 private:
  enum class Phase { idle, open, ended };

  void describe_task(const ResetOptions& options) {
    info_ = {task_id("phone", level_, options), level_, task_.kind, task_.goal.text, Json::array()};
    Rng rng = Rng::derive(0, "phone/gold", info_.id);
    for (const GuiAction& action : expert_way(task_, state_, rng)) info_.gold.push_back(format_gui_action(action));
  }

  StepResult show() const {
    StepResult result;
    result.observation.parts.push_back(Part::of(phone::draw_screen(task_.layout, state_)));
    result.reward.components = {{"accuracy", 0.0}};
    result.info["objects"] = objects_on(task_.layout, state_);
    return result;
  }

  StepResult refuse(const std::string& why) const {
    StepResult result = show();
    result.observation.parts.insert(result.observation.parts.begin(), Part::of(why));
    result.step_correct = false;
    result.refused = why;
    return result;
  }

  static StepResult refuse_all(const std::string& why) {
    StepResult result;
    result.observation.parts.push_back(Part::of(why));
    result.refused = why;
    return result;
  }

  StepResult act(const GuiAction& action) {
    const bool right = phone::is_right(task_.layout, task_.goal, state_, action);
    if (const auto refusal = phone::apply(task_.layout, action, state_)) return refuse(*refusal);
    StepResult result = show();
    result.step_correct = right;
    result.terminated = phone::ends_episode(action);
    if (result.terminated && right) {
      result.reward.total = 1;
      result.reward.components = {{"accuracy", 1.0}};
    }
    return result;
  }

  int level_;
  Task task_;
  State state_;
  int turns_ = 0;
  Phase phase_ = Phase::idle;
  TaskInfo info_;
};

}  // namespace

SuiteDefinition phone_suite(const SuiteOptions&) {
  SuiteInfo info;
  info.name = "phone";
  info.description = "Operate a simulated phone: apps, settings, lists and a keypad, one GUI action per turn";
  info.instructions =
      "You operate a phone. Each turn write one action inside <answer></answer>: CLICK <point>[[x,y]]</point>, "
      "LONG_PRESS <point>[[x,y]]</point>, SCROLL [UP|DOWN|LEFT|RIGHT], TYPE [text], OPEN_APP [name], PRESS_BACK, "
      "PRESS_HOME, WAIT, COMPLETE or IMPOSSIBLE. x and y run from 0 to 1000.";
  info.levels = 3;
  info.default_level = 2;
  info.test_tasks = kTestTasks;
  info.max_turns = kMaxTurns;
  info.metric = "success";
  info.observation_schema = message_schema();
  info.action_schema =
      text_action_schema("One GUI action in <answer></answer>, for example CLICK <point>[[500,80]]</point>");
  info.object_classes = phone::all_names();
  return {std::move(info), [](int level) { return std::make_unique<PhoneEnv>(level); }};
}

}  // namespace agon::env
