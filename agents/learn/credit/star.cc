// STaR (Zelikman et al. 2022) for two-turn roll-outs: the negative log-likelihood of second answers that correct a
// wrong first answer; with keep_right also of second answers that keep a right one.
#include "agents/learn/credit/imitation.h"
#include "agents/learn/credit/methods.h"

namespace agon::agents {
namespace {

class Star : public Imitation {
 public:
  Star(bool keep_right, LossMean mean) : Imitation(mean), keep_right_(keep_right) {}
  std::string_view name() const override { return "star"; }
  bool needs_two_turns() const override { return true; }

 private:
  void check(const CreditGroup& group) const override { check_two_turns(group, name()); }
  bool imitated(const CreditRollout& rollout) const override {
    return rollout.turn_correct[1] && (keep_right_ || !rollout.turn_correct[0]);
  }
  TokenMask mask() const override {
    return [](std::size_t i, const CreditSegment& segment) { return segment.turn == 1 && is_written(i, segment); };
  }
  std::string_view reason_without() const override { return "no answer was put right"; }

  bool keep_right_;
};

}  // namespace

std::unique_ptr<CreditAssigner> make_star(CreditSettings& settings) {
  const bool keep_right = settings.flag("keep_right", false);
  return std::make_unique<Star>(keep_right, read_loss_mean(settings, LossMean::token));
}

}  // namespace agon::agents
