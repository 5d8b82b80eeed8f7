// critic/search/budget.h - what the search of one task may spend, has spent and has left.
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
std::optional<BudgetPart> part_in(const Json& json);  // nothing too where it names no part

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

// What is left of the budget of one search, and which parts of it have ended. A part ends when something that it has no
// room for is asked: until then its end is not noted, even where nothing is left. Not thread-safe.
class Account {
 public:
  // seconds_before: that the search took in earlier processes.
  Account(const Budget& budget, double seconds_before);

  double seconds() const;                   // since the search began
  Spent spent() const;                      // wall_seconds: until now
  void charge(const Spent& more);           // its wall_seconds are passed over: the clock knows
  std::int64_t policy_tokens_left() const;  // kNoTokenLimit: no limit
  // Of them, what the candidates of one step may take together: a quarter, so that what is begun gets to its end.
  std::int64_t policy_tokens_for_candidates() const;
  std::int64_t critic_tokens_left() const;                    // as of policy tokens
  std::int64_t critic_tokens_each(std::int64_t steps) const;  // the same, shared among them

  // The part that has no room for it now. Nothing: there is room.
  std::optional<BudgetPart> bars_writing() const;
  std::optional<BudgetPart> bars_judging(std::int64_t steps) const;
  std::optional<BudgetPart> bars_playing(bool calls_tool) const;

  void end(std::optional<BudgetPart> part);  // nothing: none has ended
  void hold_back() { held_back_ = true; }    // less is done than would be, for the sake of policy tokens
  // Behind the end of policy tokens or wall time nothing is written, behind that of critic tokens or wall time nothing
  // is judged, behind that of env steps or tool seconds nothing at all (a turn without a tool call is still played
  // behind that of tool seconds).
  bool may_write() const;
  bool may_judge() const;
  // The first part that has ended; policy_tokens where none has and less was done for their sake. Empty: neither.
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
