// agents/learn/loop/train.h - reinforcement learning of a local policy. A step is: roll-outs by the engine with the
// current weights, credit (agents/learn/credit/credit.h), one loss (agents/learn/loop/policy_loss.h).
#pragma once

#include <atomic>

#include "agents/learn/data/group_source.h"
#include "agents/learn/data/response_scorer.h"
#include "agents/learn/loop/train_config.h"

namespace agon::agents {

enum class Resume { no, yes };

// Trains config.steps steps and writes under config.output: the run (config.json, run.sqlite with metrics and
// episodes), TensorBoard event files, checkpoint/ (weights, optimiser, data positions, after every checkpoint_steps),
// best/ and model/ (model folders: the best by evaluation.metric, and the last). Resume::yes continues from the last
// checkpoint, or starts if there is none. With a fixed number of threads, the weights are then bit for bit those of an
// uninterrupted training. When stop becomes true, writes a checkpoint and returns; a step whose roll-outs are then
// incomplete is dropped and repeated after a resume. Returns whether training is complete. Throws Error for a folder
// that holds a run when Resume::no, for a config that differs from the run's, and for a loss that is not finite, with
// its batch in OUTPUT/bad_batch.json. games: makes the sources that are games (critic/self_play/game_source.h).
// scorer: the reward model that config.reward_model names.
// REQUIRES: `games` if the config has a game, and `scorer` if config.reward_model names one.
bool train(const TrainConfig& config, Resume resume, const std::atomic<bool>& stop, const GameSourceFactory& games = {},
           ResponseScorer* scorer = nullptr);

}  // namespace agon::agents
