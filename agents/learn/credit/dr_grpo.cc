// Dr. GRPO (Liu et al. 2025): A_i = r_i - mean, and one constant for the length of all responses, so that the loss does
// not depend on the length of a response or the difficulty of its task.
#include "agents/learn/credit/group.h"
#include "agents/learn/credit/methods.h"

namespace agon::agents {
namespace {

class DrGrpo : public CreditAssigner {
 public:
  DrGrpo(double kl, int max_tokens) : kl_(kl), max_tokens_(max_tokens) {}

  GroupCredit assign(const CreditGroup& group) const override {
    check_group(group, name());
    const std::vector<double> rewards = answer_rewards(group);
    const std::vector<double> advantage = group_advantage(rewards, {GroupScale::Deviation::none, 0});
    GroupCredit credit = credit_responses(group, is_written, rewards, advantage, kl_, LossMean::sequence);
    const double tokens = static_cast<double>(group.size()) * max_tokens_;
    set_tokens(credit, &TokenCredit::weight, group, is_written, 1 / tokens);
    return credit;
  }
  std::string_view name() const override { return "dr_grpo"; }

 private:
  double kl_;
  int max_tokens_;
};

}  // namespace

std::unique_ptr<CreditAssigner> make_dr_grpo(CreditSettings& settings) {
  const double kl = settings.number("kl", 0, 0);
  return std::make_unique<DrGrpo>(kl, settings.whole("max_tokens", 256, 1));
}

}  // namespace agon::agents
