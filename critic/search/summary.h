// critic/search/summary.h - the figures of a run of searches, computed from its store alone: what `agon search --json`
// prints.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "critic/search/search_run.h"
#include "record/run_reader.h"

namespace agon::critic {

// Of every task whose search has ended, in order; those whose journal is damaged there are passed over, and counted.
std::vector<SearchOutcome> search_outcomes(const record::RunReader& run, std::size_t& damaged);

// `method, suite, split, level, policy, critic, budget, tasks, accuracy, ci {accuracy: [lo, hi]}, policy_tokens,
// critic_tokens, env_steps, tool_seconds, wall_seconds, speculative_tokens, per_task {...}, budget_exhausted,
// unanswered, failed, damaged, nodes, judged, invalid_verdicts, unknown_verdicts, unranked, steps_rejected, attempts
// {n: count}, by_level {level: {tasks, accuracy, ci}}`. Sums over the tasks; per_task: their means. wall_seconds: that
// the run took. A task that was not answered is wrong; one that failed, or has a damaged journal, is in no figure.
// Null: undefined. Intervals: Wilson's, over tasks.
Json summarize_searches(const record::RunReader& run);
std::string search_table(const Json& summary);  // for a person; plain text, aligned

}  // namespace agon::critic
