#include "env/grading/rules/action_rule.h"
#include "env/grading/gui_action_reply.h"

#include <optional>

#include <fmt/format.h>

namespace agon::env {
namespace {

class ActionRule final : public AnswerRule {
 public:
  void take_gold(const Json& gold) override {
    const auto action = gold.is_string() ? read_gui_action(gold.get<std::string>()) : std::nullopt;
    if (!action) throw_bad_gold(gold, "an action such as CLICK <point>[[x,y]]</point>");
    gold_ = in_thousandths(*action, gold_scale());
  }
  AnswerReading read(const AnswerPart& part) const override {
    auto action = read_gui_action(part.raw);
    if (!action) action = read_gui_action(part.text);
    if (!action) return not_read(fmt::format("no action in {}", shown_answer(part.text)));
    AnswerReading reading;
    reading.action = in_thousandths(*action, options.response_coordinates.value_or(gold_scale()));
    reading.shown = format_gui_action(*action);
    return reading;
  }
  RuleScore compare(const AnswerReading& answer) const override {
    const GuiMatch match = match_gui_action(answer.action, gold_, most_distance());
    const char* how = match.success ? "matches" : match.type ? "has other arguments than" : "is another action than";
    return {match.success ? 1.0 : 0.0, fmt::format("{} {} {}", answer.shown, how, format_gui_action(gold_))};
  }
  bool same(const AnswerReading& a, const AnswerReading& b) const override {
    return match_gui_action(a.action, b.action, most_distance()).success;
  }
  std::string description() const override {
    return fmt::format("the same action; a place within {:g} of the screen, a text equal or with F1 above 0.5",
                       most_distance());
  }

 private:
  double most_distance() const { return options.tolerance ? options.tolerance->relative : 0.14; }
  Coordinates gold_scale() const { return options.coordinates.value_or(Coordinates::thousandths); }
  GuiAction in_thousandths(GuiAction action, Coordinates scale) const {
    const auto [x, y] = growth(scale, Coordinates::thousandths, options.size);
    action.x *= x;
    action.y *= y;
    return action;
  }
  GuiAction gold_;
};

}  // namespace

std::unique_ptr<AnswerRule> make_action_rule() { return std::make_unique<ActionRule>(); }

}  // namespace agon::env
