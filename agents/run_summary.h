// agents/run_summary.h - the figures of a run, computed from its episodes alone: what `agon run --json` prints and the
// report shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "env/episode.h"

namespace agon::agents {

// The figures-relevant part of an episode (a run's episodes with turns need not fit in memory).
struct EpisodeOutcome {
  std::uint64_t task_index = 0;
  int sample = 0, level = 0;
  std::string kind;
  bool failed = false, success = false;
  double reward = 0;
  std::optional<double> score;
  std::optional<std::string> answer;
  bool answer_is_box = false;
  int steps = 0, right_steps = 0;  // turns with info["step_correct"], and those where it is true
  std::int64_t tokens = 0;
};
EpisodeOutcome outcome_of(const env::Episode& episode);

// `suite, split, level, tasks, samples, greedy, pass_at_1, pass_at_k {k: v}, best_of_n {n: v}, majority {n: v}, score
// {auc, ap}, mean_reward, tokens, seconds, failed, ci {metric: [lo, hi]}` (and step_success where the suite labels
// steps). Failed episodes are in no mean. best_of_n: the first sample with the highest valid score (none valid: the
// first sample); majority: most frequent normalised answer, boxes: largest IoU cluster; ties: the first. Both over the
// first n samples of each task, averaged over all n-subsets where that is exact (pass_at_k) or over consecutive blocks
// of n. Intervals: bootstrap over tasks, seeded by `config["seed"]`.
Json summarize(const Json& config, const std::vector<EpisodeOutcome>& outcomes, double seconds);
std::string summary_table(const Json& summary);  // for a person; plain text, aligned

}  // namespace agon::agents
