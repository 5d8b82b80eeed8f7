// agents/learn/loop/sft.h - trains a local model on demonstrations by the suites' experts, with a next-token loss on
// the expert's turns. An auxiliary object loss on the vision tokens teaches grounding, which a tiny model does not
// learn otherwise; its head is discarded afterwards.
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
