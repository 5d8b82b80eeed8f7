#include "agents/learn/credit/imitation.h"

#include <algorithm>

namespace agon::agents {

GroupCredit Imitation::assign(const CreditGroup& group) const {
  check_group(group, name());
  check(group);
  std::vector<bool> kept;
  for (const CreditRollout& rollout : group) kept.push_back(imitated(rollout));
  const TokenMask tokens = of_kept(kept, mask());
  GroupCredit credit = no_credit(group);
  const auto count = std::count(kept.begin(), kept.end(), true);
  set_tokens(credit, &TokenCredit::advantage, group, tokens, 1.0);
  weigh(credit, group, tokens, mean_, static_cast<int>(count));
  for (std::size_t i = 0; i < group.size(); ++i) credit.rollout_figures[i]["imitated"] = static_cast<bool>(kept[i]);
  if (count == 0) drop(credit, std::string(reason_without()));
  return finished(std::move(credit));
}

}  // namespace agon::agents
