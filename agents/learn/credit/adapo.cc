// AdaPO: two-turn roll-outs of type i->j (first answer right?, second answer right?). The error rate P of the first
// answers sets the reward of each type (ARM, Eq. 3-5) and the KL coefficients of both turns (Eq. 7-8).
#include <algorithm>
#include <array>

#include "agents/learn/credit/group.h"
#include "agents/learn/credit/methods.h"

namespace agon::agents {
namespace {

// A number for each type, in the order of the paper's Table 4.
struct OfTypes {
  double r01 = 0, r11 = 0, r10 = 0, r00 = 0;
  double of(const CreditRollout& rollout) const {
    if (rollout.turn_correct[1]) return rollout.turn_correct[0] ? r11 : r01;
    return rollout.turn_correct[0] ? r10 : r00;
  }
};

struct AdapoSettings {
  OfTypes base, slope;  // R_base and K
  double theta = 0.6, lambda = 0.01, beta_base = 0.001;
  bool arm = true, reward_aware_kl = true, filters = true, filter_on_answer = false;
  GroupScale scale;
};

// The rewards and KL coefficients that follow from the group's error rate.
struct Stage {
  double error_rate = 0;
  OfTypes rewards;
  double beta1 = 0, beta2 = 0;
};

std::string type_of(const CreditRollout& rollout) {
  return std::string(rollout.turn_correct[0] ? "1" : "0") + (rollout.turn_correct[1] ? "->1" : "->0");
}

class Adapo : public CreditAssigner {
 public:
  explicit Adapo(AdapoSettings settings) : settings_(settings) {}

  GroupCredit assign(const CreditGroup& group) const override {
    check_group(group, name());
    check_two_turns(group, name());
    const CreditGroup kept = settings_.filters ? whole_ones(group) : group;
    const Stage stage = stage_of(kept);
    GroupCredit credit = spread(group, kept, stage);
    add_figures(credit, group, stage);
    if (kept.empty())
      drop(credit, "every roll-out is truncated");
    else if (settings_.filters && zero_advantage(kept, stage))
      drop(credit, "zero advantage");
    return finished(std::move(credit));
  }
  std::string_view name() const override { return "adapo"; }
  bool uses_reward() const override { return false; }
  bool needs_two_turns() const override { return true; }
  Clip clip() const override { return {0.25, 0.25}; }

 private:
  static CreditGroup whole_ones(CreditGroup group) {
    std::erase_if(group, [](const CreditRollout& rollout) { return rollout.truncated; });
    return group;
  }

  Stage stage_of(const CreditGroup& kept) const {
    Stage stage{.rewards = settings_.base};
    const auto wrong = std::count_if(kept.begin(), kept.end(), [](auto& one) { return !one.turn_correct[0]; });
    if (!kept.empty()) stage.error_rate = static_cast<double>(wrong) / static_cast<double>(kept.size());
    if (settings_.arm) {
      const double from_theta = stage.error_rate - settings_.theta;
      stage.rewards.r01 += settings_.slope.r01 * from_theta;
      stage.rewards.r11 += settings_.slope.r11 * from_theta;
      stage.rewards.r10 += settings_.slope.r10 * stage.error_rate;
      stage.rewards.r00 += settings_.slope.r00 * stage.error_rate;
    }
    const double gap = settings_.reward_aware_kl ? (stage.rewards.r01 - stage.rewards.r11) * settings_.lambda : 0;
    stage.beta1 = std::max(gap, 0.0) + settings_.beta_base;
    stage.beta2 = std::max(-gap, 0.0) + settings_.beta_base;
    return stage;
  }

  static std::vector<double> rewards_of(const CreditGroup& group, const Stage& stage) {
    std::vector<double> rewards;
    for (const CreditRollout& rollout : group) rewards.push_back(stage.rewards.of(rollout));
    return rewards;
  }

  bool zero_advantage(const CreditGroup& kept, const Stage& stage) const {
    if (!settings_.filter_on_answer) return all_equal(rewards_of(kept, stage));
    return std::all_of(kept.begin(), kept.end(),
                       [&](auto& one) { return one.turn_correct[1] == kept.front().turn_correct[1]; });
  }

  GroupCredit spread(const CreditGroup& group, const CreditGroup& kept, const Stage& stage) const {
    GroupCredit credit = no_credit(group);
    const std::vector<double> of_kept_ones = group_advantage(rewards_of(kept, stage), settings_.scale);
    std::vector<double> advantage;
    std::vector<bool> is_kept;
    for (std::size_t i = 0, next = 0; i < group.size(); ++i) {
      is_kept.push_back(!settings_.filters || !group[i].truncated);
      advantage.push_back(is_kept[i] ? of_kept_ones[next++] : 0);
      credit.rollout_figures[i]["trajectory_advantage"] = advantage[i];
    }
    const auto in_turn = [](int turn) {
      return [turn](std::size_t i, const CreditSegment& one) { return one.turn == turn && is_written(i, one); };
    };
    set_tokens(credit, &TokenCredit::advantage, group, is_written, advantage);
    set_tokens(credit, &TokenCredit::kl, group, in_turn(0), stage.beta1);
    set_tokens(credit, &TokenCredit::kl, group, in_turn(1), stage.beta2);
    weigh(credit, group, of_kept(is_kept, is_written), LossMean::sequence, static_cast<int>(kept.size()));
    return credit;
  }

  void add_figures(GroupCredit& credit, const CreditGroup& group, const Stage& stage) const {
    Json types{{"0->1", 0}, {"1->1", 0}, {"1->0", 0}, {"0->0", 0}};
    for (std::size_t i = 0; i < group.size(); ++i) {
      const std::string type = type_of(group[i]);
      const bool dropped = settings_.filters && group[i].truncated;
      if (!dropped) types[type] = types[type].get<int>() + 1;
      credit.rollout_figures[i].update({{"type", type}, {"reward", stage.rewards.of(group[i])}});
      if (dropped) credit.rollout_figures[i]["dropped"] = "truncated";
    }
    credit.figures = {
        {"P", stage.error_rate},    {"R01", stage.rewards.r01}, {"R11", stage.rewards.r11}, {"R10", stage.rewards.r10},
        {"R00", stage.rewards.r00}, {"beta1", stage.beta1},     {"beta2", stage.beta2},     {"types", types}};
  }

  AdapoSettings settings_;
};

// Reads a number, or takes the preset's value. The latter stays "preset" in the resolved settings, so that it still
// follows a later change of the preset.
double read_slope(CreditSettings& settings, const char* name, double of_preset) {
  return settings.raw(name, "preset") == "preset" ? of_preset : settings.number(name, of_preset);
}

// The signs of K: as in the paper's text (K01 >= 0, K11 <= 0) or as in its Table 4.
OfTypes read_slopes(CreditSettings& settings) {
  const double sign = settings.choice("preset", {"text", "table4"}) == "text" ? 1 : -1;
  return {.r01 = read_slope(settings, "k01", sign),
          .r11 = read_slope(settings, "k11", -sign),
          .r10 = settings.number("k10", 0.5),
          .r00 = settings.number("k00", -0.5)};
}

}  // namespace

std::unique_ptr<CreditAssigner> make_adapo(CreditSettings& settings) {
  AdapoSettings read;
  read.slope = read_slopes(settings);
  read.base = {.r01 = settings.number("r01", 1),
               .r11 = settings.number("r11", 1),
               .r10 = settings.number("r10", -1),
               .r00 = settings.number("r00", -1)};
  read.theta = settings.number("theta", read.theta, 0, 1);
  read.lambda = settings.number("lambda", read.lambda, 0);
  read.beta_base = settings.number("beta_base", read.beta_base, 0);
  read.arm = settings.flag("arm", true);
  read.reward_aware_kl = settings.flag("reward_aware_kl", true);
  read.filters = settings.flag("filters", true);
  read.filter_on_answer = settings.choice("filter_on", {"rewards", "c_y2"}) == "c_y2";
  read.scale = read_group_scale(settings);
  return std::make_unique<Adapo>(read);
}

}  // namespace agon::agents
