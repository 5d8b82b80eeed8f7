// SCoRe (Kumar et al. 2024) for two-turn roll-outs with rewards r1, r2 (1: right): stage 1 rewards only the second
// answer and keeps the first one near the reference; stage 2 rewards both, the second with a bonus alpha (r2 - r1).
#include "agents/learn/credit/group.h"
#include "agents/learn/credit/methods.h"

namespace agon::agents {
namespace {

struct ScoreSettings {
  int stage = 1;
  double alpha = 10, beta1 = 0.01, beta2 = 0.1;
  bool return_to_go = false;
  GroupScale scale;
  LossMean mean = LossMean::sequence;
};

class Score : public CreditAssigner {
 public:
  explicit Score(ScoreSettings settings) : settings_(settings) {}

  GroupCredit assign(const CreditGroup& group) const override {
    check_group(group, name());
    check_two_turns(group, name());
    GroupCredit credit = no_credit(group);
    std::vector<double> first, second;
    for (const CreditRollout& rollout : group) {
      second.push_back(second_reward(rollout));
      first.push_back(first_reward(rollout) + (settings_.return_to_go ? second.back() : 0));
    }
    const double held = settings_.stage == 1 ? settings_.beta2 : 0;
    credit_turn(credit, group, 0, first, settings_.beta1 + held);
    credit_turn(credit, group, 1, second, settings_.beta1);
    weigh(credit, group, is_written, settings_.mean, static_cast<int>(group.size()));
    return finished(std::move(credit));
  }
  std::string_view name() const override { return "score"; }
  bool uses_reward() const override { return false; }
  bool needs_two_turns() const override { return true; }

 private:
  double first_reward(const CreditRollout& rollout) const { return settings_.stage == 1 ? 0 : rollout.turn_correct[0]; }
  double second_reward(const CreditRollout& rollout) const {
    const double first = rollout.turn_correct[0], second = rollout.turn_correct[1];
    return settings_.stage == 1 ? second : second + settings_.alpha * (second - first);
  }

  void credit_turn(GroupCredit& credit, const CreditGroup& group, int turn, const std::vector<double>& rewards,
                   double kl) const {
    const auto in_turn = [turn](std::size_t i, const CreditSegment& one) {
      return one.turn == turn && is_written(i, one);
    };
    const std::vector<double> advantage = group_advantage(rewards, settings_.scale);
    set_tokens(credit, &TokenCredit::advantage, group, in_turn, advantage);
    set_tokens(credit, &TokenCredit::kl, group, in_turn, kl);
    for (std::size_t i = 0; i < group.size(); ++i) {
      credit.rollout_figures[i]["turn_reward"].push_back(rewards[i]);
      credit.rollout_figures[i]["turn_advantage"].push_back(advantage[i]);
    }
  }

  ScoreSettings settings_;
};

}  // namespace

std::unique_ptr<CreditAssigner> make_score(CreditSettings& settings) {
  ScoreSettings read;
  read.stage = settings.whole("stage", read.stage, 1, 2);
  read.alpha = settings.number("alpha", read.alpha, 0);
  read.beta1 = settings.number("beta1", read.beta1, 0);
  read.beta2 = settings.number("beta2", read.beta2, 0);
  read.return_to_go = settings.flag("return_to_go", read.return_to_go);
  read.scale = read_group_scale(settings, false);
  read.mean = read_loss_mean(settings, read.mean);
  return std::make_unique<Score>(read);
}

}  // namespace agon::agents
