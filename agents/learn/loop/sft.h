// agents/learn/loop/sft.h - supervised training of a local model on the suites' experts: next-token loss on the
// policy's turns, and an auxiliary object loss on the vision tokens whose head is discarded after training (without it
// a tiny model does not learn grounding).
#pragma once

#include <atomic>

#include "agents/learn/loop/sft_config.h"

namespace agon::agents {

// Trains until config.steps and writes the model folder config.output. Every checkpoint_steps it writes
// config.output/checkpoint (model, optimiser, step) and one line of figures to config.output/train.jsonl; a killed run
// resumes from there when called again with the same config (another config: Error naming the first difference). Steps
// draw their data from (seed, step): a resumed run sees the same data. Stops after the step under way, with a
// checkpoint, when *stop becomes true. Returns whether training is complete.
bool train_sft(const SftConfig& config, const std::atomic<bool>& stop);

}  // namespace agon::agents
