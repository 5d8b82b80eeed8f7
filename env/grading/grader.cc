#include "env/grading/grader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"
#include "env/grading/answer/choice.h"
#include "env/grading/answer/part.h"
#include "env/grading/rules/action_rule.h"
#include "env/grading/rules/answer_rule.h"
#include "env/grading/rules/choice_rule.h"
#include "env/grading/rules/number_rule.h"
#include "env/grading/rules/place_rule.h"
#include "env/grading/rules/text_rule.h"

namespace agon::env {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<AnswerRule> (*make)();
  double threshold = 1;
  bool tolerance = false, places = false;  // whether it takes these settings
};
constexpr Entry kGraders[] = {
    {"exact", make_exact_rule},
    {"normalized", make_normalized_rule},
    {"number", make_number_rule, 1, true},
    {"choice", make_choice_rule},
    {"f1", make_f1_rule, 0.5},
    {"f1_multiset", make_f1_rule, 0.5},
    {"iou", make_iou_rule, 0.5, false, true},
    {"giou", make_giou_rule, 0.5, false, true},
    {"ciou", make_ciou_rule, 0.5, false, true},
    {"point_in_box", make_point_rule, 1, false, true},
    {"gui_step", make_action_rule, 1, true, true},
};

const Entry& entry_of(const std::string& name) {
  const auto entry =
      std::find_if(std::begin(kGraders), std::end(kGraders), [&](const Entry& e) { return name == e.name; });
  if (entry == std::end(kGraders)) throw Error("{}", unknown_name_message("grader", name, Grader::names()));
  return *entry;
}

void check_options(const Entry& entry, const GradeOptions& options) {
  const auto refuse = [&](const char* key) {
    throw Error("grader {}: \"{}\" does nothing here; leave it out.", entry.name, key);
  };
  if (options.tolerance && !entry.tolerance) refuse("tolerance");
  const bool step = std::string_view(entry.name) == "gui_step";
  if (step && options.tolerance && options.tolerance->absolute != 0)
    throw Error("grader {}: \"tolerance\" is one number, the distance as a share of the screen.", entry.name);
  if (!entry.places && options.coordinates) refuse("coordinates");
  if (!entry.places && options.response_coordinates) refuse("response_coordinates");
  if (!entry.places && options.size) refuse("size");
  if (!entry.places) return;
  if (!step && options.response_coordinates && !options.coordinates)
    throw Error("grader {}: \"response_coordinates\" needs \"coordinates\", the scale of the gold answer.", entry.name);
  const auto gold = options.coordinates.value_or(Coordinates::thousandths);
  const auto response = options.response_coordinates.value_or(gold);
  const bool pixels = gold == Coordinates::pixels || response == Coordinates::pixels;
  if (options.size && !pixels)
    throw Error(
        "grader {}: \"size\" does nothing where neither \"coordinates\" nor \"response_coordinates\" are pixels. "
        "Leave it out.",
        entry.name);
  if (pixels && (gold != response || step) && !options.size)
    throw Error("grader {}: pixels need \"size\": [width, height] of the picture.", entry.name);
}

std::unique_ptr<AnswerRule> rule_named(const std::string& name, const GradeOptions& options) {
  const Entry& entry = entry_of(name);
  check_options(entry, options);
  auto rule = entry.make();
  rule->grader = name;
  rule->options = options;
  rule->options.options = without_labels(options.options);
  return rule;
}

}  // namespace

Grader::Grader(const std::string& name, const Json& gold, const std::vector<std::string>& options)
    : Grader(name, gold, GradeOptions{options, {}, {}, {}, {}}) {}

Grader::Grader(const std::string& name, const Json& gold, const GradeOptions& options) {
  std::unique_ptr<AnswerRule> rule = rule_named(name, options);
  rule->take_gold(gold);
  rule_ = std::move(rule);
  threshold_ = entry_of(name).threshold;
}

Grade Grader::judge(std::string_view response) const {
  Grade grade;
  const AnswerPart part = answer_part(response);
  grade.steps = {fmt::format("extract: {}: {}", to_string(part.kind), shown_answer(part.raw)),
                 fmt::format("normalise: {}", shown_answer(part.text))};
  const AnswerReading reading =
      part.text.empty() && part.raw.empty() ? not_read("the answer is empty") : rule_->read(part);
  if (!reading.found()) {
    grade.why = reading.fault;
    grade.steps.push_back(fmt::format("read: nothing, {}", reading.fault));
    return grade;
  }
  const RuleScore score = rule_->compare(reading);
  grade.reward = score.reward;
  grade.correct = correct(score.reward);
  grade.extracted = score.read.empty() ? reading.shown : score.read;
  grade.why = score.why;
  grade.steps.push_back(fmt::format("read: {}", shown_answer(grade.extracted.value())));
  grade.steps.push_back(fmt::format("compare: {} ({}): {}", rule_->grader, rule_->description(), score.why));
  return grade;
}

bool Grader::correct(double reward) const { return reward >= threshold_; }

std::vector<std::string> Grader::names() {
  std::vector<std::string> names;
  for (const Entry& entry : kGraders) names.emplace_back(entry.name);
  return names;
}

Json grading_of(const std::string& grader, const Json& task) {
  Json grading = {{"grader", grader}};
  for (const std::string& key : kGradeKeys)
    if (task.contains(key) && !task[key].is_null()) grading[key] = task[key];
  return grading;
}

std::vector<std::optional<std::size_t>> sides_of(const std::vector<std::string>& responses, const Json& grading) {
  const std::unique_ptr<AnswerRule> rule =
      rule_named(grading.at("grader").get<std::string>(), grade_options_of(grading));
  std::vector<std::optional<std::size_t>> sides;
  std::vector<AnswerReading> first;  // of each side
  for (const std::string& response : responses) {
    sides.emplace_back();
    const AnswerPart part = answer_part(response);
    AnswerReading reading = part.text.empty() ? not_read("empty") : rule->read(part);
    if (!reading.found()) continue;
    const auto side =
        std::find_if(first.begin(), first.end(), [&](const AnswerReading& one) { return rule->same(one, reading); });
    sides.back() = static_cast<std::size_t>(side - first.begin());
    if (side == first.end()) first.push_back(std::move(reading));
  }
  return sides;
}

}  // namespace agon::env
