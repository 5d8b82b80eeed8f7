// agents/learn/loop/train_metrics.h - the figures of one step of training, by the names that the store, the event file
// and the report use ("reward/accuracy", "policy/kl", "adapo/beta1").
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "agents/learn/data/train_rollout.h"
#include "agents/learn/loop/train_model.h"
#include "agents/run_summary.h"
#include "env/env.h"
#include "record/episode_store.h"

namespace agon::agents {

// Figures of the groups as played, including filtered ones; empty without groups.
//   reward/NAME            the reward components
//   reward/trained         their weighted sum
//   reward/total           the env's own reward
//   score/, length/        score AUC and validity, lengths
//   length/truncated       share of roll-outs with was_cut
//   length/repeated        share of a text's three-word sequences that occurred earlier in it
//   reward_model/agrees    share of right-wrong pairs of a group that the reward model orders correctly; a tie counts
//                          half
//   adapo/P, adapo/type_01 the method's own figures, as means over groups or shares of roll-outs; without its
//                          advantages, whose mean is 0
record::Metrics rollout_metrics(std::span<const TrainGroup> groups, const std::string& method,
                                const std::map<std::string, double>& weights);
// Figures of all optimiser steps of a training step.
record::Metrics update_metrics(std::span<const UpdateFigures> updates, double learning_rate);
// The prefix of the names of an evaluation's figures: "eval/LABEL/" on the test split, else "eval/SPLIT/LABEL/".
std::string evaluation_group(env::Split split, const std::string& label);
// The figures of an evaluation that are defined, named "GROUPpass_at_1" etc., with "_low" and "_high".
record::Metrics evaluation_metrics(const RunSummary& summary, const std::string& group);

}  // namespace agon::agents
