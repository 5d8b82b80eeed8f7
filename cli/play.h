// cli/play.h - one suite played by one policy into one run folder, as `agon run` and `agon eval` do.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "agents/open_policy.h"
#include "agents/policy.h"
#include "agents/rollout.h"
#include "agents/run_summary.h"
#include "core/json.h"
#include "record/run_reader.h"

namespace agon::cli {

// Everything that shapes an episode; the number of threads does not.
Json run_config(const agents::RolloutOptions& options, const agents::PolicySource& policy);

// "runs/NAME-20260131-235959", made, or the first of "...-2", "...-3" that is not there yet. Nothing may fail between
// this and the run: what does leaves an empty folder.
std::filesystem::path default_folder(const std::string& name);

struct RunPlace {
  std::filesystem::path folder;
  bool resume = false;  // go on with the run in it, if there is one
  std::string go_on;    // for messages: the flags that go on with it
};

// `out`, or a default folder named after the suite. Throws Error for resume without out; resume of an empty folder is
// said on stderr.
RunPlace run_place(const std::string& command, const std::string& suite, const std::string& out, bool resume);

struct PlayedRun {
  agents::RunSummary summary;
  std::vector<agents::EpisodeOutcome> outcomes;
  std::string failure;  // why the first of the failed episodes failed; empty: none has
};

// Plays what is not in the folder yet, records it there and ends the run; every figure is computed from the episodes as
// they are read back. label: of the progress bar. extend: adds to the summary, from the recorded episodes, before the
// run ends; false: it was stopped. Throws Interrupted, with the way to go on, on Ctrl-C.
PlayedRun play_into(const RunPlace& place, agents::Policy& policy, const agents::RolloutOptions& options,
                    const Json& config, const std::string& label,
                    const std::function<bool(const record::RunReader& run, agents::RunSummary& summary)>& extend = {});
// Throws Error that counts the failed episodes, if there are any.
void require_none_failed(const PlayedRun& run, const RunPlace& place, const std::string& command);

}  // namespace agon::cli
