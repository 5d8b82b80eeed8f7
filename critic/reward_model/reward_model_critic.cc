#include "critic/reward_model/reward_model_critic.h"

#include <algorithm>

#include "core/error.h"

namespace agon::critic {
namespace {

bool same_parts(const std::vector<Part>& a, const std::vector<Part>& b) {
  return std::ranges::equal(a, b, [](const Part& one, const Part& other) {
    return one.is_text() == other.is_text() && one.content() == other.content();
  });
}

bool same_place(const StepInContext& a, const StepInContext& b) {
  return a.before == b.before &&
         std::ranges::equal(a.messages, b.messages, [](const Message& one, const Message& other) {
           return one.role == other.role && same_parts(one.parts, other.parts);
         });
}

std::string response_of(const StepInContext& step) {
  return step.before.empty() ? step.step : step.before + "\n\n" + step.step;
}

class RewardModelCritic final : public StepCritic {
 public:
  RewardModelCritic(RewardModel& model, std::string name) : model_(model), name_(std::move(name)) {}

  std::vector<Verdict> judge(std::span<const StepInContext> steps, std::int64_t /*tokens*/) override {
    try {
      return scored(steps);
    } catch (const Error&) {
      return scored_that_fit(steps);
    }
  }

  std::string name() const override { return name_; }

 private:
  std::vector<Verdict> scored(std::span<const StepInContext> steps) {
    std::vector<Verdict> verdicts;
    for (const std::vector<double>& scores : model_.score(sets_of(steps)))
      for (const double score : scores) verdicts.push_back(verdict_from(model_.probability(score)));
    return verdicts;
  }

  // Called from a catch block. Judges the steps that fit into the context; rethrows the error if all of them fit.
  std::vector<Verdict> scored_that_fit(std::span<const StepInContext> steps) {
    std::vector<Verdict> verdicts(steps.size());
    std::vector<StepInContext> fitting;
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (model_.fits({steps[i].messages, {response_of(steps[i])}}))
        fitting.push_back(steps[i]);
      else
        verdicts[i].fault = "the step and what it answers pass the reward model's context";
    if (fitting.size() == steps.size()) throw;
    std::size_t next = 0;
    const std::vector<Verdict> judged = scored(fitting);
    for (Verdict& verdict : verdicts)
      if (verdict.fault.empty()) verdict = judged[next++];
    return verdicts;
  }

  std::vector<Candidates> sets_of(std::span<const StepInContext> steps) const {
    std::vector<Candidates> sets;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const StepInContext& step = steps[i];
      add_response(model_, sets, i > 0 && same_place(steps[i - 1], step), step.messages, response_of(step));
    }
    return sets;
  }

  RewardModel& model_;
  const std::string name_;
};

}  // namespace

std::unique_ptr<StepCritic> make_reward_model_critic(RewardModel& model, std::string name) {
  if (model.notes().is_object() && model.notes().contains("held_out") && model.notes().at("held_out").is_null())
    throw Error(
        "critic: reward model {} was trained without held-out sets, so its scores have no fitted probabilities. Train "
        "it with 'held_out' above 0.",
        name);
  return std::make_unique<RewardModelCritic>(model, std::move(name));
}

}  // namespace agon::critic
