// critic/search/budget.h - the budget of one task's search: limits on tokens, env steps and time, and the amounts that
// are spent and left.
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
std::optional<BudgetPart> part_in(const Json& json);  // nothing if it names no part

// The limits of one search. Nothing: no limit.
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
  // Tokens of steps that were written before a verdict and then discarded. No budget counts them, so that writing ahead
  // changes no result.
  std::int64_t speculative_tokens = 0;
};
Json to_json(const Spent& spent);
Spent spent_in(const Json& json);

// Tracks how much of the budget of one search is left, and which parts have ended. A part ends when a request does not
// fit into it; until then it has not ended, even if nothing is left. Not thread-safe.
class Account {
 public:
  // seconds_before: time that the search has taken in earlier processes.
  Account(const Budget& budget, double seconds_before);

  double seconds() const;                   // since the search began
  Spent spent() const;                      // wall_seconds: until now
  void charge(const Spent& more);           // ignores more.wall_seconds: the clock counts them
  std::int64_t policy_tokens_left() const;  // kNoTokenLimit: no limit
  // The share of them that all candidates of one step may use together: a quarter, so that the search can finish the
  // trajectories that it has begun.
  std::int64_t policy_tokens_for_candidates() const;
  std::int64_t critic_tokens_left() const;                    // kNoTokenLimit: no limit
  std::int64_t critic_tokens_each(std::int64_t steps) const;  // the same, per step

  // The part of the budget that now forbids the action. Nothing: the action is allowed.
  std::optional<BudgetPart> bars_writing() const;
  std::optional<BudgetPart> bars_judging(std::int64_t steps) const;
  std::optional<BudgetPart> bars_playing(bool calls_tool) const;

  void end(std::optional<BudgetPart> part);  // marks the part as ended; nothing: no effect
  void hold_back() { held_back_ = true; }    // the search does less than planned, to save policy tokens
  // Once policy tokens or wall time have ended, the search writes nothing. Once critic tokens or wall time have ended,
  // it judges nothing. Once env steps or tool seconds have ended, it does neither; after the end of tool seconds it
  // still plays turns without a tool call.
  bool may_write() const;
  bool may_judge() const;
  // The first part that has ended; policy_tokens if none has ended but hold_back() was called. Empty: neither.
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
