// SFT: the negative log-likelihood of given roll-outs: demonstrations, or the policy's right roll-outs.
#include "agents/learn/credit/imitation.h"
#include "agents/learn/credit/methods.h"

namespace agon::agents {
namespace {

class Sft : public Imitation {
 public:
  Sft(bool all, LossMean mean) : Imitation(mean), all_(all) {}
  std::string_view name() const override { return "sft"; }

 private:
  bool imitated(const CreditRollout& rollout) const override { return all_ || rollout.correct; }
  TokenMask mask() const override { return is_written; }
  std::string_view reason_without() const override { return "none is right"; }

  bool all_;
};

}  // namespace

std::unique_ptr<CreditAssigner> make_sft(CreditSettings& settings) {
  const bool all = settings.choice("of", {"right", "all"}) == "all";
  return std::make_unique<Sft>(all, read_loss_mean(settings, LossMean::token));
}

}  // namespace agon::agents
