#include "env/suites/phone/corrupt.h"

#include <fmt/format.h>

#include <vector>

namespace agon::env::phone {
namespace {

bool is_digit(const Target& target) { return target.kind == TargetKind::key && target.id < kClearKey; }

GuiAction completing() {
  GuiAction action;
  action.type = GuiActionType::complete;
  return action;
}

std::vector<GuiAction> other_targets(const Layout& layout, const State& state, const GuiAction& action) {
  std::vector<GuiAction> actions;
  if (clicked(layout, state, action))
    for (const Target& target : targets(layout, state)) actions.push_back(click_on(target.box));
  if (action.type == GuiActionType::open_app)
    for (std::string_view app : kApps) {
      actions.push_back(action);
      actions.back().text = app;
    }
  return actions;
}

std::vector<GuiAction> other_digits(const Layout& layout, const State& state, const GuiAction& action, Rng& rng) {
  std::vector<GuiAction> actions;
  const auto key = clicked(layout, state, action);
  if (key && is_digit(*key))
    for (const Target& target : targets(layout, state))
      if (is_digit(target)) actions.push_back(click_on(target.box));
  if (action.type == GuiActionType::type && !action.text.empty()) {
    const auto place = static_cast<std::size_t>(rng.between(0, static_cast<int>(action.text.size()) - 1));
    for (char digit = '0'; digit <= '9'; ++digit) {
      actions.push_back(action);
      actions.back().text[place] = digit;
    }
  }
  return actions;
}

std::vector<GuiAction> opposites(const Layout& layout, const State& state, const GuiAction& action) {
  const auto target = clicked(layout, state, action);
  if (target && target->kind == TargetKind::setting) return {completing()};
  std::vector<GuiAction> actions;
  for (const Target& other : targets(layout, state)) {
    const bool set_again = action.type == GuiActionType::complete && other.kind == TargetKind::setting;
    const bool cancel = target && target->kind == TargetKind::button && other.kind == TargetKind::button;
    if (set_again || cancel) actions.push_back(click_on(other.box));
  }
  return actions;
}

std::vector<GuiAction> jumps(const Goal& goal, const GuiAction& action) {
  if (action.type == GuiActionType::complete) return {};
  GuiAction end = completing();
  if (goal.impossible && action.type != GuiActionType::impossible) end.type = GuiActionType::impossible;
  return {end};
}

std::vector<GuiAction> alternatives(const Layout& layout, const Goal& goal, const State& state, const GuiAction& action,
                                    ErrorKind kind, Rng& rng) {
  switch (kind) {
    case ErrorKind::wrong_object:
      return other_targets(layout, state, action);
    case ErrorKind::misread_value:
      return other_digits(layout, state, action, rng);
    case ErrorKind::wrong_condition:
      return opposites(layout, state, action);
    case ErrorKind::unjustified_jump:
      return jumps(goal, action);
    case ErrorKind::calculation:
      return {};
  }
  return {};
}

std::string description(const Layout& layout, const State& state, const GuiAction& action) {
  const auto target = clicked(layout, state, action);
  return target ? fmt::format("{} ({})", format_gui_action(action), name_of(*target, state))
                : format_gui_action(action);
}

}  // namespace

std::optional<GuiAction> corrupted(const Layout& layout, const Goal& goal, const State& state, const GuiAction& action,
                                   ErrorKind kind, Rng& rng) {
  std::vector<GuiAction> wrong;
  for (const GuiAction& other : alternatives(layout, goal, state, action, kind, rng))
    if (!is_right(layout, goal, state, other)) wrong.push_back(other);
  if (wrong.empty()) return std::nullopt;
  return rng.pick(wrong);
}

std::string why_wrong(const Layout& layout, const Goal& goal, const State& state) {
  const std::vector<GuiAction> right = right_actions(layout, goal, state);
  if (right.empty()) return "the goal is out of reach";
  return "right here: " + description(layout, state, right.front());
}

}  // namespace agon::env::phone
