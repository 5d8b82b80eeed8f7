// cli/play.h - plays one suite with one policy into one run folder: the work of `agon run` and `agon eval`.
// agents/rollout.h defines which episodes a resumed run still has to play.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agents/open_policy.h"
#include "agents/policy.h"
#include "agents/rollout.h"
#include "agents/run_summary.h"
#include "core/json.h"
#include "record/run_reader.h"

namespace agon::cli {

// The settings that shape an episode; the number of threads does not.
Json run_config(const agents::RolloutOptions& options, const agents::PolicySource& policy);

// "runs/NAME-20260131-235959", created; if it exists, "...-2", "...-3" and so on. Nothing may fail between this and the
// run, or an empty folder remains.
std::filesystem::path default_folder(const std::string& name);

struct RunPlace {
  std::filesystem::path folder;
  bool resume = false;  // resume the run in it, if there is one
  std::string go_on;    // for messages: the flags that resume it
};

// `out`, or a default folder named after the suite. Throws WrongUsage for resume without out; says on stderr if there
// is nothing to resume.
RunPlace run_place(const std::string& command, const std::string& suite, const std::string& out, bool resume);

// The limit on the cost of a run, over all its processes. Requests in flight when it is reached still cost.
struct CostLimit {
  agents::Price price;
  double most_usd = 0;
};
// "usd=5". Throws WrongUsage for another text, and for a policy without a price.
std::optional<CostLimit> parse_cost_limit(const std::string& text, const agents::PolicySource& policy);

struct PlayedRun {
  agents::RunSummary summary;
  std::vector<agents::EpisodeOutcome> outcomes;
  std::string failure;  // error of the first failed episode; empty: none failed
};

// Plays and records what the folder does not hold yet, and ends the run. All figures are computed from the recorded
// episodes. label: of the progress bar. extend: adds to the summary, from the recorded episodes, before the run ends;
// returns false if it was stopped. Throws Interrupted on Ctrl-C, with the way to resume.
PlayedRun play_into(const RunPlace& place, agents::Policy& policy, const agents::RolloutOptions& options,
                    const Json& config, const std::string& label,
                    const std::function<bool(const record::RunReader& run, agents::RunSummary& summary)>& extend = {},
                    const std::optional<CostLimit>& limit = {});
// Throws Error with the number of failed episodes, if there are any.
void require_none_failed(const PlayedRun& run, const RunPlace& place, const std::string& command);

}  // namespace agon::cli
