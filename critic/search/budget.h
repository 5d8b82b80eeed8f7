// critic/search/budget.h - what the search of one task may spend, and what it has spent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/json.h"

namespace agon::critic {

// Nothing: no limit.
struct Budget {
  std::optional<std::int64_t> policy_tokens, critic_tokens, env_steps;
  std::optional<double> tool_seconds, wall_seconds;
};
// "policy_tokens=400,critic_tokens=2000,env_steps=5,tool_seconds=3,wall=10"; empty: no limit. Throws Error that names
// the part which is none, with the nearest name.
Budget parse_budget(const std::string& text);
Json to_json(const Budget& budget);  // {"policy_tokens": 400, ...}: the limits that there are
Budget budget_in(const Json& json);

struct Spent {
  std::int64_t policy_tokens = 0, critic_tokens = 0, env_steps = 0;
  double tool_seconds = 0, wall_seconds = 0;
  // Written ahead of a verdict and thrown away with the step; in no budget, so that writing ahead changes no result.
  std::int64_t speculative_tokens = 0;
};
Json to_json(const Spent& spent);
Spent spent_in(const Json& json);

}  // namespace agon::critic
