// critic/reward_model/verifier.h - measures best-of-n by a reward model over the episodes of a run.
#pragma once

#include <functional>
#include <optional>

#include "agents/run_summary.h"
#include "critic/reward_model/reward_model.h"
#include "record/run_reader.h"

namespace agon::critic {

// Picks one of n samples in two ways. `best`: the highest score. `majority`: the highest score among the samples whose
// answer wins the vote (env/grading/vote.h), with votes weighted by e^score, that is by the softmax probability of
// being the best; without any answer the highest score. Figures and intervals are computed as for best_of_n in
// agents/run_summary.h: over consecutive blocks of n samples of a task, averaged over blocks, then tasks. n: powers of
// two up to the run's number of samples, and that number; a task with fewer than n samples is left out for n.
// not_fitting: every n for which a block of some task exceeds the model's context; its figures are undefined. Failed
// episodes are left out. `verifier` stays empty. done: called after every task; false ends the work early, and the
// result is nothing. Throws Error for episodes of several turns.
std::optional<agents::VerifiedFigures> verified(RewardModel& model, const record::RunReader& run,
                                                const std::function<bool()>& done = {});

}  // namespace agon::critic
