// RLOO (Ahmadian et al. 2024): A_i = r_i - mean of the other rewards of the group.
#include "agents/learn/credit/group.h"
#include "agents/learn/credit/methods.h"

namespace agon::agents {
namespace {

class Rloo : public CreditAssigner {
 public:
  Rloo(double kl, LossMean mean) : kl_(kl), mean_(mean) {}

  GroupCredit assign(const CreditGroup& group) const override {
    check_group(group, name());
    const std::vector<double> rewards = answer_rewards(group);
    return credit_responses(group, is_written, rewards, leave_one_out(rewards), kl_, mean_);
  }
  std::string_view name() const override { return "rloo"; }

 private:
  // r_i - (sum - r_i) / (G - 1) = (r_i - mean) G / (G - 1)
  static std::vector<double> leave_one_out(const std::vector<double>& rewards) {
    std::vector<double> advantage = group_advantage(rewards, {GroupScale::Deviation::none, 0});
    if (rewards.size() < 2) return advantage;
    const double size = static_cast<double>(rewards.size());
    for (double& value : advantage) value *= size / (size - 1);
    return advantage;
  }

  double kl_;
  LossMean mean_;
};

}  // namespace

std::unique_ptr<CreditAssigner> make_rloo(CreditSettings& settings) {
  const double kl = settings.number("kl", 0, 0);
  return std::make_unique<Rloo>(kl, read_loss_mean(settings, LossMean::sequence));
}

}  // namespace agon::agents
