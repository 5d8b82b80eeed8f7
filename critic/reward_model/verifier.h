// critic/reward_model/verifier.h - best-of-n by a reward model, over the episodes of a run.
#pragma once

#include <cstdint>
#include <functional>

#include "core/json.h"
#include "critic/reward_model/reward_model.h"
#include "record/run_reader.h"

namespace agon::critic {

// What is taken of n samples: the one with the highest score, and the one with the highest score of those whose answer
// most votes are for (env/grading/vote.h), a vote weighing e^score: the probability of being the best that the model's
// softmax gives a response, summed by answer. Without an answer: the highest score.
inline constexpr const char *kVerified = "verified", *kVerifiedMajority = "verified_majority";

// {"verified": {n: v}, "verified_majority": {n: v}, "not_fitting": [n], "ci": {"verified_n": [low, high], ...}}: as
// best_of_n and its intervals in agents/run_summary.h - the samples of a task in consecutive blocks of n, averaged over
// blocks, then tasks; n: powers of two up to the run's number of samples, and that number; a task with fewer than n
// samples is not in the figures of n. not_fitting: those n of which a block of some task
// passes the model's context; their figure is null. Episodes that failed are left out. done: after every task; false
// ends the work early, and the result is null. Throws Error for episodes of several turns.
Json verified(RewardModel& model, const record::RunReader& run, const std::function<bool()>& done = {});

}  // namespace agon::critic
