// agents/learn/loop/sft.h - supervised training of a local model on the suites' experts: next-token loss on the
// policy's turns, and an auxiliary object loss on the vision tokens whose head is discarded after training (without it
// a tiny model does not learn grounding).
#pragma once

#include <atomic>

#include "agents/learn/loop/sft_config.h"

namespace agon::agents {

// Trains until config.steps and writes the model folder config.output. It writes one line of figures per step to
// config.output/train.jsonl and, every checkpoint_steps, config.output/checkpoint (model, optimiser, step). A killed
// run resumes from the checkpoint when called again with the same config. Another config is an Error that names the
// first difference. Steps draw their data from (seed, step), so a resumed run sees the same data. When stop becomes
// true, stops after the current step with a checkpoint; a stopped score stage has none and is repeated. Returns whether
// training is complete.
bool train_sft(const SftConfig& config, const std::atomic<bool>& stop);

}  // namespace agon::agents
