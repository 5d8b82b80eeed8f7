// critic/search/budget.h - the budget of one task's search: what it may spend, has spent and has left.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "core/json.h"

namespace agon::critic {

enum class BudgetPart { policy_tokens, critic_tokens, env_steps, tool_seconds, wall };
const std::string& to_string(BudgetPart part);        // "policy_tokens", ..., "wall": in flags, journals and figures
Json part_json(std::optional<BudgetPart> part);       // nothing: null
std::optional<BudgetPart> part_in(const Json& json);  // nothing also if it names no part

// Nothing: no limit.
struct Budget {
  std::optional<std::int64_t> policy_tokens, critic_tokens, env_steps;
  std::optional<double> tool_seconds, wall_seconds;
};
// "policy_tokens=400,critic_tokens=2000,env_steps=5,tool_seconds=3,wall=10"; empty: no limit. Throws Error for an
// unknown part, with the nearest name.
Budget parse_budget(const std::string& text);
Json to_json(const Budget& budget);  // {"policy_tokens": 400, ...}: the parts with a limit
Budget budget_in(const Json& json);

struct Spent {
  std::int64_t policy_tokens = 0, critic_tokens = 0, env_steps = 0;
  double tool_seconds = 0, wall_seconds = 0;
  // Tokens written before a verdict and discarded with the step. They count in no budget, so that writing ahead changes
  // no result.
  std::int64_t speculative_tokens = 0;
};
Json to_json(const Spent& spent);
Spent spent_in(const Json& json);

// Keeps what is left of the budget of one search, and which parts have ended. A part ends when something is requested
// that it has no room for; until then it has not ended, even if nothing is left. Not thread-safe.
class Account {
 public:
  // seconds_before: time that the search took in earlier processes.
  Account(const Budget& budget, double seconds_before);

  double seconds() const;                   // since the search began
  Spent spent() const;                      // wall_seconds: until now
  void charge(const Spent& more);           // its wall_seconds are ignored: the clock counts them
  std::int64_t policy_tokens_left() const;  // kNoTokenLimit: no limit
  // The share of them for the candidates of one step together: a quarter, so that begun trajectories can be finished.
  std::int64_t policy_tokens_for_candidates() const;
  std::int64_t critic_tokens_left() const;                    // as of policy tokens
  std::int64_t critic_tokens_each(std::int64_t steps) const;  // the same, shared among them

  // The part that has no room for this now. Nothing: there is room.
  std::optional<BudgetPart> bars_writing() const;
  std::optional<BudgetPart> bars_judging(std::int64_t steps) const;
  std::optional<BudgetPart> bars_playing(bool calls_tool) const;

  void end(std::optional<BudgetPart> part);  // nothing: none has ended
  void hold_back() { held_back_ = true; }    // less is done than planned, to save policy tokens
  // After the end of policy tokens or wall time nothing is written; of critic tokens or wall time, nothing is judged;
  // of env steps or tool seconds, nothing happens at all. (After the end of tool seconds, turns without a tool call are
  // still played.)
  bool may_write() const;
  bool may_judge() const;
  // The first part that has ended; policy_tokens if none has ended and less was done to save them. Empty: neither.
  std::string exhausted() const;

 private:
  bool wall_is_over() const;
  bool has_ended(BudgetPart part) const { return ended_.contains(part); }

  const Budget budget_;
  Spent spent_;
  std::set<BudgetPart> ended_;
  std::optional<BudgetPart> first_ended_;
  bool held_back_ = false;
  double started_;
};

}  // namespace agon::critic
