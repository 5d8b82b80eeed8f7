// critic/search/summary.h - computes the figures of a run of searches from its store alone; `agon search` prints them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/estimate.h"
#include "core/json.h"
#include "critic/search/search_run.h"
#include "record/run_reader.h"

namespace agon::critic {

// The outcome of every finished search, in order of tasks. A task whose last entry is damaged is skipped and counted in
// `damaged`.
std::vector<SearchOutcome> search_outcomes(const record::RunReader& run, std::size_t& damaged);

// Sums over the tasks whose search has ended. A task without an answer counts as wrong. A task that failed or has a
// damaged journal is excluded from all figures. Intervals: Wilson's, over tasks.
struct SearchSummary {
  Json settings;  // method, suite, split, level, policy, critic, budget: from the run's config; null: not recorded
  Estimate accuracy;
  Spent spent;  // wall_seconds: of the whole run
  std::int64_t nodes = 0;
  std::int64_t budget_exhausted = 0, unanswered = 0, failed = 0, damaged = 0;               // tasks
  std::int64_t judged = 0, invalid_verdicts = 0, unknown_verdicts = 0, steps_rejected = 0;  // steps
  std::int64_t unranked = 0;                                                                // trajectories
  std::map<int, int> attempts;  // number of kept steps, by number of attempts
  std::map<int, Estimate> by_level;
};
SearchSummary summarize_searches(const record::RunReader& run);
// `method, suite, split, level, policy, critic, budget, tasks, accuracy, ci {accuracy: [lo, hi]}, policy_tokens,
// critic_tokens, env_steps, tool_seconds, speculative_tokens, nodes, per_task {...}, wall_seconds, budget_exhausted,
// unanswered, failed, damaged, judged, invalid_verdicts, unknown_verdicts, unranked, steps_rejected, attempts {n:
// count}, by_level {level: {tasks, accuracy, ci}}`. per_task: means. Null: undefined.
Json to_json(const SearchSummary& summary);              // the stored form; cli/printed_json.h prints it
std::string search_table(const SearchSummary& summary);  // for a person; plain text, aligned

}  // namespace agon::critic
