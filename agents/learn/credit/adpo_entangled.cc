// The entangled baseline of ADPO (Eq. 10): one advantage, of answer reward + preference reward, for every token.
#include "agents/learn/credit/group.h"
#include "agents/learn/credit/methods.h"
#include "agents/learn/credit/preference.h"

namespace agon::agents {
namespace {

class AdpoEntangled : public CreditAssigner {
 public:
  AdpoEntangled(double kl, GroupScale scale, LossMean mean, PreferenceSettings preference)
      : kl_(kl), scale_(scale), mean_(mean), preference_(preference) {}

  GroupCredit assign(const CreditGroup& group) const override { return assign_batch({group}).front(); }

  std::vector<GroupCredit> assign_batch(const std::vector<CreditGroup>& groups) const override {
    for (const CreditGroup& group : groups) check_group(group, name());
    const std::vector<ContrastPool> pools = contrast_pools(groups, preference_);
    std::vector<GroupCredit> credits;
    for (std::size_t i = 0; i < groups.size(); ++i) credits.push_back(credit_of(groups[i], pools[i]));
    return credits;
  }

  std::string_view name() const override { return "adpo_entangled"; }

 private:
  GroupCredit credit_of(const CreditGroup& group, const ContrastPool& pool) const {
    const std::vector<PreferenceReward> preferences = preference_rewards(group, pool, preference_);
    std::vector<double> rewards = answer_rewards(group);
    for (std::size_t i = 0; i < group.size(); ++i) rewards[i] += preferences[i].reward;
    const std::vector<double> advantage = group_advantage(rewards, scale_);
    GroupCredit credit = credit_responses(group, is_written, rewards, advantage, kl_, mean_);
    for (std::size_t i = 0; i < group.size(); ++i)
      credit.rollout_figures[i]["preference_reward"] = preferences[i].reward;
    return credit;
  }

  double kl_;
  GroupScale scale_;
  LossMean mean_;
  PreferenceSettings preference_;
};

}  // namespace

std::unique_ptr<CreditAssigner> make_adpo_entangled(CreditSettings& settings) {
  const double kl = settings.number("kl", 0.01, 0);
  const GroupScale scale = read_group_scale(settings);
  const LossMean mean = read_loss_mean(settings, LossMean::sequence);
  return std::make_unique<AdpoEntangled>(kl, scale, mean, read_preference(settings));
}

}  // namespace agon::agents
