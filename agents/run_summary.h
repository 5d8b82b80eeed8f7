// agents/run_summary.h - the figures of a run, computed from its episodes alone: what `agon run --json` prints and the
// report shows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/statistics.h"
#include "record/episode.h"

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
  Json grading;                    // StepFacts::grading of the last turn: the rule that a vote goes by
  bool answer_is_box = false;      // without a grading: the gold is a box, and the answer parses as one
  int steps = 0, right_steps = 0;  // turns with a step_correct, and those where it is true
  std::vector<bool> turn_correct;  // StepFacts::turn_correct of the turns that have it: two where it is answered twice
  std::int64_t tokens = 0;
};
EpisodeOutcome outcome_of(const record::Episode& episode);

// The figures of two-turn episodes. m01: first answer wrong, second right; m10: the other way round; shares of all
// episodes, so that delta = acc_t2 - acc_t1 = m01 - m10. Conditional: m01 of the episodes whose first answer is wrong,
// m10 of those whose first answer is right.
struct TwoTurnFigure {
  const char *name, *label;
};
inline constexpr TwoTurnFigure kTwoTurnFigures[] = {{"acc_t1", "acc@t1"},
                                                    {"acc_t2", "acc@t2"},
                                                    {"delta", "delta"},
                                                    {"m01", "M 0->1"},
                                                    {"m10", "M 1->0"},
                                                    {"m01_conditional", "M 0->1 of wrong"},
                                                    {"m10_conditional", "M 1->0 of right"}};
inline constexpr const char* kGreedyTurns = "greedy_";  // before their names: of the greedy answers

// `suite, split, level, tasks, samples, greedy, pass_at_1, pass_at_k {k: v}, best_of_n {n: v}, majority {n: v}, score
// {auc, ap, missing}, mean_reward, tokens, seconds, failed, ci {metric: [lo, hi]}` (and step_success where the suite
// labels steps, and two_turn where tasks are answered twice: kTwoTurnFigures of the samples and, with kGreedyTurns
// before their names, of the greedy answers; `types` and `greedy_types` count the episodes that are "0->0", "0->1",
// "1->0", "1->1"). Null: undefined (no such episode). Failed episodes are in no mean; a task with fewer than n samples
// is not in the figures of n. All but `greedy` are over the samples at temperature; means are over tasks, of each
// task's mean. best_of_n: the first sample with the highest valid score (none valid: the first sample); majority: the
// most frequent answer, as the task's grader compares them (env/grading/vote.h; without one numbers by value, boxes by
// the largest IoU cluster, others normalised); ties: the first; no answer: the first sample. pass_at_k is exact over
// all k-subsets of a task's samples; best_of_n and majority are averaged over consecutive blocks of n. n and k: powers
// of two up to the number of samples, and that number. score: of all samples together; `missing` counts those without a
// valid one. `n {metric: tasks}`: of how many tasks each interval is. Intervals are over tasks (core/intervals.h): of
// shares Wilson's at the effective number of samples, of the difference of two turns Newcombe's, of the others by
// bootstrap, seeded by `config["seed"]`; keys "greedy", "pass_at_8", "best_of_4", "majority_4", "score_auc",
// "score_ap", "mean_reward", "step_success", "acc_t1", "greedy_acc_t1".
Json summarize(const Json& config, const std::vector<EpisodeOutcome>& outcomes, double seconds);
// `other` minus `first`, by the keys of "ci", over the tasks that both have: {metric: difference, "ci": {metric: [lo,
// hi]}, "n": {metric: tasks}}. Paired: of shares Newcombe's interval over the tasks that have both, of the others by a
// bootstrap that draws the same tasks of both.
Json compare(const std::vector<EpisodeOutcome>& first, const std::vector<EpisodeOutcome>& other, std::uint64_t seed);

// Accuracy of a part of the tasks: those of one level or of one kind.
struct GroupAccuracy {
  std::string name;
  std::size_t tasks = 0;
  double greedy = 0, pass_at_1 = 0;  // NaN: no such episode
  Interval pass_at_1_interval;
};
// By name(outcome), names in order.
std::vector<GroupAccuracy> accuracy_by(const std::vector<EpisodeOutcome>& outcomes, std::uint64_t seed,
                                       const std::function<std::string(const EpisodeOutcome&)>& name);

}  // namespace agon::agents
