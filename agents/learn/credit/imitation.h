// agents/learn/credit/imitation.h - the base class of SFT and STaR, which maximise the likelihood of selected tokens.
#pragma once

#include <string>
#include <vector>

#include "agents/learn/credit/group.h"

namespace agon::agents {

class Imitation : public CreditAssigner {
 public:
  explicit Imitation(LossMean mean) : mean_(mean) {}
  GroupCredit assign(const CreditGroup& group) const final;
  bool imitates() const final { return true; }
  bool uses_reward() const final { return false; }

 private:
  virtual void check(const CreditGroup&) const {}
  virtual bool imitated(const CreditRollout& rollout) const = 0;
  virtual TokenMask mask() const = 0;                   // the tokens to train in an imitated roll-out
  virtual std::string_view reason_without() const = 0;  // why a group with none imitated is dropped

  LossMean mean_;
};

}  // namespace agon::agents
