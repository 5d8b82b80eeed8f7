// critic/reward_model/verifier.h - measures best-of-n by a reward model over the episodes of a run.
#pragma once

#include <functional>
#include <optional>

#include "agents/run_summary.h"
#include "critic/reward_model/reward_model.h"
#include "record/run_reader.h"

namespace agon::critic {

// What is taken of n samples: the one with the highest score (`best`), and the one with the highest score of those
// whose answer most votes are for (`majority`; env/grading/vote.h), a vote weighing e^score: the probability of being
// the best that the model's softmax gives a response, summed by answer. Without an answer: the highest score. Figures
// and intervals are as those of best_of_n in agents/run_summary.h: the samples of a task in consecutive blocks of n,
// averaged over blocks, then tasks; n: powers of two up to the run's number of samples, and that number; a task with
// fewer than n samples is not in the figures of n. not_fitting: those n of which a block of some task passes the
// model's context; their figures are undefined. Episodes that failed are left out. `verifier` stays empty. done: after
// every task; false ends the work early, and the result is nothing. Throws Error for episodes of several turns.
std::optional<agents::VerifiedFigures> verified(RewardModel& model, const record::RunReader& run,
                                                const std::function<bool()>& done = {});

}  // namespace agon::critic
