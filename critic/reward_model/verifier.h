// critic/reward_model/verifier.h - measures best-of-n with a reward model over the episodes of a run.
#pragma once

#include <functional>
#include <optional>

#include "agents/run_summary.h"
#include "critic/reward_model/reward_model.h"
#include "record/run_reader.h"

namespace agon::critic {

// Picks one of n samples in two ways. `best`: the sample with the highest score. `majority`: the sample with the
// highest score among those whose answer wins the vote (env/grading/vote.h). A vote has the weight e^score, which is
// proportional to the softmax probability of being the best; if no sample has an answer, the highest score wins.
// Figures and intervals are computed as for best_of_n in agents/run_summary.h: over consecutive blocks of n samples of
// a task, averaged over blocks, then over tasks. n: powers of two up to the run's number of samples, and that number;
// for each n, tasks with fewer than n samples are excluded. not_fitting: every n for which a block of some task exceeds
// the model's context; its figures are undefined. Failed episodes are excluded. `verifier` stays empty.
// done: called after every task; false ends the work early, and the result is nothing. Throws Error for episodes of
// several turns.
std::optional<agents::VerifiedFigures> verified(RewardModel& model, const record::RunReader& run,
                                                const std::function<bool()>& done = {});

}  // namespace agon::critic
