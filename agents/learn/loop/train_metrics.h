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

// Of the groups as they were played, filtered ones too: reward components, "reward/trained" (their sum by the weights),
// "reward/total" (the env's own), score AUC and validity, lengths, "length/truncated" (share of roll-outs that
// was_cut says), "length/repeated" (share of a text's runs of three
// words that it has said before), with a reward model "reward_model/agrees" (share of a group's pairs of a right and a
// wrong roll-out that it puts in that order; equal scores are half a one), the figures of the method ("adapo/P": means
// over groups, "adapo/type_01": shares of roll-outs) but its advantages, whose mean is 0. Nothing of no groups.
record::Metrics rollout_metrics(std::span<const TrainGroup> groups, const std::string& method,
                                const std::map<std::string, double>& weights);
// Of the step's optimiser steps together.
record::Metrics update_metrics(std::span<const UpdateFigures> updates, double learning_rate);
// What the names of an evaluation's figures begin with: "eval/LABEL/" on the test split, else "eval/SPLIT/LABEL/".
std::string evaluation_group(env::Split split, const std::string& label);
// Of an evaluation, those that are defined: names "GROUPpass_at_1", with "_low" and "_high".
record::Metrics evaluation_metrics(const RunSummary& summary, const std::string& group);

}  // namespace agon::agents
