// GRPO (Shao et al. 2024): A_i = (r_i - mean) / std, the same for every token of the response.
#include "agents/learn/credit/adpo_masks.h"
#include "agents/learn/credit/group.h"
#include "agents/learn/credit/methods.h"

namespace agon::agents {
namespace {

class Grpo : public CreditAssigner {
 public:
  Grpo(std::string_view name, TokenMask mask, double kl, GroupScale scale, LossMean mean)
      : name_(name), mask_(std::move(mask)), kl_(kl), scale_(scale), mean_(mean) {}

  GroupCredit assign(const CreditGroup& group) const override {
    check_group(group, name_);
    const std::vector<double> rewards = answer_rewards(group);
    return credit_responses(group, mask_, rewards, group_advantage(rewards, scale_), kl_, mean_);
  }
  std::string_view name() const override { return name_; }

 private:
  std::string_view name_;
  TokenMask mask_;
  double kl_;
  GroupScale scale_;
  LossMean mean_;
};

std::unique_ptr<CreditAssigner> make(std::string_view name, TokenMask mask, double kl, CreditSettings& settings) {
  kl = settings.number("kl", kl, 0);
  const GroupScale scale = read_group_scale(settings);
  return std::make_unique<Grpo>(name, std::move(mask), kl, scale, read_loss_mean(settings, LossMean::sequence));
}

}  // namespace

std::unique_ptr<CreditAssigner> make_grpo(CreditSettings& settings) { return make("grpo", is_written, 0, settings); }

// Trains only the answer; the score after it is used at test time.
std::unique_ptr<CreditAssigner> make_grpo_verifier(CreditSettings& settings) {
  return make("grpo_verifier", is_answer, 0.01, settings);
}

}  // namespace agon::agents
