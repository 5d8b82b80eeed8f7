// cli/tables/eval_table.h - the table of `agon eval`: policies compared, suite by suite.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agents/run_summary.h"
#include "core/json.h"

namespace agon::cli {

// One policy on one suite.
struct EvalRow {
  std::string suite, policy;
  std::string run;  // the folder of the run
  agents::RunSummary summary;
  std::optional<agents::RunDifference> difference;  // from the suite's first row; nothing: this is that row
};

// {"rows": [{suite, policy, run, summary, difference (null: it is the first of its suite)}]}
Json eval_json(const std::vector<EvalRow>& rows);
// One block per suite, one line per policy with its intervals below it, then its difference from the first one.
// One-turn runs: greedy, pass@1, pass@k, best@k by score, majority@k, AUC and AP of the score. Two-turn runs: acc@t1,
// acc@t2, their difference and M, of the samples and of the greedy answers. Rows of a suite are consecutive.
std::string eval_table(const std::vector<EvalRow>& rows);

}  // namespace agon::cli
