// agents/run_summary.h - the figures of a run, computed from its episodes alone. `agon run` prints them and the report
// shows them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/episode_outcome.h"
#include "agents/remote/endpoint.h"
#include "core/estimate.h"
#include "core/json.h"

namespace agon::agents {

// The figures of two-turn episodes. m01: first answer wrong, second right; m10: the other way round; both are shares of
// all episodes, so that delta = acc_t2 - acc_t1 = m01 - m10. Conditional: m01 of the episodes whose first answer is
// wrong, m10 of those whose first answer is right.
struct TwoTurnFigures {
  Estimate acc_t1, acc_t2, delta, m01, m10, m01_conditional, m10_conditional;
};
struct TwoTurnColumn {
  const char *name, *label;
  Estimate TwoTurnFigures::*figure;
};
inline constexpr TwoTurnColumn kTwoTurnColumns[] = {
    {"acc_t1", "acc@t1", &TwoTurnFigures::acc_t1},
    {"acc_t2", "acc@t2", &TwoTurnFigures::acc_t2},
    {"delta", "delta", &TwoTurnFigures::delta},
    {"m01", "M 0->1", &TwoTurnFigures::m01},
    {"m10", "M 1->0", &TwoTurnFigures::m10},
    {"m01_conditional", "M 0->1 of wrong", &TwoTurnFigures::m01_conditional},
    {"m10_conditional", "M 1->0 of right", &TwoTurnFigures::m10_conditional}};
inline constexpr const char* kGreedyTurns = "greedy_";  // prefix of a column's name if it is of the greedy answers

// The types of two-turn episodes: first answer -> second answer, each wrong (0) or right (1).
inline constexpr const char* kTurnTypes[] = {"0->0", "0->1", "1->0", "1->1"};
using TurnTypes = std::array<int, std::size(kTurnTypes)>;  // number of episodes of each type

using BySize = std::map<int, Estimate>;  // by k or n

// Figures over the tasks of a run. `greedy` and `two_turn.greedy` use the greedy answers, all others the samples at
// temperature. A mean is the mean over tasks of each task's mean. Failed episodes are excluded from means; a task with
// fewer than n samples is excluded from the figures of n. n and k are the powers of two up to the number of samples,
// and that number. Intervals are over tasks (core/intervals.h): Wilson's for shares, at the effective number of
// samples; Newcombe's for the difference of two turns; bootstrap for the others.
struct RunFigures {
  Estimate greedy, pass_at_1, mean_reward;
  BySize pass_at_k;  // exact over all k-subsets of a task's samples
  // Averaged over consecutive blocks of n samples. best_of_n: the first sample with the highest valid score, or the
  // first sample if none is valid. majority: the most frequent answer, with answers compared by the task's grader
  // (env/grading/vote.h). Without a grader, numbers are compared by value, boxes by the largest IoU cluster, other
  // answers normalised. Ties go to the first answer; without any answer the first sample is taken.
  BySize best_of_n, majority;
  Estimate score_auc, score_ap;          // over all samples pooled
  std::optional<Estimate> step_success;  // if the suite labels steps
  struct TwoTurns {
    TwoTurnFigures samples, greedy;
  };
  std::optional<TwoTurns> two_turn;  // if tasks are answered twice
};

// Figures of the samples that a reward model picks (critic/reward_model/verifier.h).
struct VerifiedFigures {
  std::string verifier;  // folder of the reward model
  BySize best;           // success of the sample with the highest score, by n
  BySize majority;       // of the weighted vote; empty: the run is older than this figure
  std::set<int> not_fitting;
};

struct RunSummary {
  std::optional<std::string> suite, split;  // nullopt: not in the run's config
  std::optional<int> level;
  std::size_t tasks = 0;
  int samples = 0;  // per task
  RunFigures figures;
  std::int64_t valid_scores = 0, missing_scores = 0;  // samples with a valid score, and without
  TurnTypes types{}, greedy_types{};                  // counts over the samples, and over the greedy answers
  std::int64_t tokens = 0;
  std::optional<double> usd;  // cost of the server's tokens, if the policy has a price
  double seconds = 0;         // NaN: unknown
  std::int64_t failed = 0;
  std::optional<VerifiedFigures> verified;
};

// US dollars for the tokens of an episode.
double usd_of(const EpisodeOutcome& outcome, const Price& price);
// The price of the policy, as the run's config records it.
std::optional<Price> price_in(const Json& config);
// `config` is the run's config; its "seed" also seeds the intervals.
RunSummary summarize(const Json& config, const std::vector<EpisodeOutcome>& outcomes, double seconds);
// `suite, split, level, tasks, samples, greedy, pass_at_1, mean_reward, pass_at_k {k: v}, best_of_n {n: v}, majority
// {n: v}, score {auc, ap, missing, valid}, tokens, seconds, failed, ci {metric: [lo, hi]}, n {metric: tasks}`, and
// where they apply, `cost {usd, usd_per_task}`, `step_success`, `two_turn` (kTwoTurnColumns of the samples and, with
// kGreedyTurns before their names, of the greedy answers; `types` and `greedy_types` count the episodes of kTurnTypes)
// and `verifier, verified {n: v}, verified_majority {n: v}, not_fitting [n]`. Null: undefined (no such episode). The
// metrics of `ci` and `n`: "greedy", "pass_at_8", "best_of_4", "majority_4", "score_auc", "score_ap", "mean_reward",
// "step_success", "acc_t1", "greedy_acc_t1", "verified_8", "verified_majority_8".
Json to_json(const RunSummary& summary);  // as stored; cli/printed_json.h lists the keys that are printed
// The verifier's figures in the JSON of a summary, written by this agon or an earlier one; nullopt if it has none.
std::optional<VerifiedFigures> verified_in(const Json& summary);

// The difference of two runs in each figure that both have, over the tasks that both played. Intervals are paired:
// Newcombe's for shares; for the others a bootstrap that draws the same tasks from both runs.
struct RunDifference {
  RunFigures figures;
};
// `other` minus `first`.
RunDifference compare(const std::vector<EpisodeOutcome>& first, const std::vector<EpisodeOutcome>& other,
                      std::uint64_t seed);
// {"ci": {metric: [lo, hi]}, "n": {metric: tasks}, metric: difference}; metrics are named as in a summary's "ci".
Json to_json(const RunDifference& difference);

// Accuracy on a group of tasks, for example all tasks of one level or one kind.
struct GroupAccuracy {
  std::string name;
  std::size_t tasks = 0;
  double greedy = 0;  // NaN: no greedy episode
  Estimate pass_at_1;
};
// Groups by name(outcome), sorted by name.
std::vector<GroupAccuracy> accuracy_by(const std::vector<EpisodeOutcome>& outcomes, std::uint64_t seed,
                                       const std::function<std::string(const EpisodeOutcome&)>& name);

}  // namespace agon::agents
