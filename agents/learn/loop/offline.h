// agents/learn/loop/offline.h - training on responses that were written and judged before, by the loss of offline
// self-play (agents/learn/loop/offline_loss.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agents/learn/loop/offline_options.h"
#include "core/json.h"
#include "core/message.h"

namespace agon::agents {

struct OfflineSample {
  std::vector<Message> messages;  // what the response answers, pictures included
  std::string response;
  double reward = 0;
  std::int64_t group = 0;  // samples of one group share a baseline
  bool imitated = false;   // an example to follow; its reward is not read
};

struct OfflineConfig {
  std::string name = "self-play";       // of the training, at the head of messages and progress
  std::filesystem::path start, output;  // model folders; start is the reference too
  std::uint64_t seed = 1;
  int epochs = 3, batch = 64;   // samples, or a few more: those of one prompt stay together
  double learning_rate = 2e-4;  // falls linearly to 0
  double weight_decay = 0, clip_norm = 1;
  bool baseline = true;  // advantage: the reward less its group's mean; false: the reward
  OfflineLossOptions loss{.kl = 0.1};
  std::int64_t checkpoint_steps = 20;
  int threads = 0;  // 0: the machine's cores
  // Kept in the checkpoint: the subcommand whose training it is, and "settings", which agents::require_own_training
  // tells the differences by.
  Json notes = Json::object();
};

struct OfflineFigures {
  std::int64_t steps = 0;
  OfflineLossFigures first, last;  // of the first and the last epoch, means over their steps
};

// Trains and writes the model folder config.output, with one line of figures a step in config.output/train.jsonl.
// Samples side by side with the same messages are read together, these once. Killed or stopped, it goes on from its
// last checkpoint when called again with the same samples and config. Each epoch goes through the samples in an order
// drawn from (seed, epoch). The checkpoint stays until the caller, who has recorded that this is done, removes it.
// figures: filled where it is given. Returns whether training is complete. Throws Error for no samples, for a sample
// that does not fit the context, and for a value that is not finite.
bool train_offline(const OfflineConfig& config, const std::vector<OfflineSample>& samples,
                   const std::atomic<bool>& stop, OfflineFigures* figures = nullptr);

}  // namespace agon::agents
