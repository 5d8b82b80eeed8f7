// cli/report/search.h - the part of a report that shows a search: its figures compared with those of other searches,
// and the trees of its tasks.
#pragma once

#include <string>
#include <vector>

#include "cli/report/data.h"
#include "core/json.h"
#include "record/run_reader.h"

namespace agon::cli {

// Steps with a probability from the critic and a label from the suite.
struct JudgedSteps {
  std::vector<double> probabilities;
  std::vector<int> labels;
};

// Adds {tasks, episodes, images} of the first tasks, and "search": {summary, methods [{name, policy_tokens, tokens,
// accuracy, interval, own}], trees {task index: nodes (cli/tables/search_tree.h), each with "parts": what the env
// showed after it}, steps {right_kept, wrong_kept, right_rejected, wrong_rejected, unknown}, trees_missing: why some
// trees are missing; empty: none is}. judged: steps of all finished tasks. moved: where the run's inputs are now. If a
// tree cannot be built, the report is still written.
void add_search(const record::RunReader& run, const std::string& title, const ReportLimits& limits,
                const std::vector<OtherRun>& others, const MovedInputs& moved, Json& data, JudgedSteps& judged);

}  // namespace agon::cli
