#include "cli/paid.h"

#include <fmt/format.h>

#include <cstdio>

#include "agents/remote/remote_policy.h"

namespace agon::cli {

double usd_paid(const std::vector<const agents::Policy*>& policies) {
  double usd = 0;
  for (const agents::Policy* policy : policies)
    if (policy) usd += agents::paid_by(*policy).usd;
  return usd;
}

void note_paid(const std::string& command, const std::vector<const agents::Policy*>& policies) {
  if (const double usd = usd_paid(policies); usd > 0)
    fmt::print(stderr, "{}: the servers of this call cost {:.4f} US dollars.\n", command, usd);
}

}  // namespace agon::cli
