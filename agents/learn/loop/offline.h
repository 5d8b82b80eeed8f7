// agents/learn/loop/offline.h - training on given responses with rewards, by the loss of offline self-play
// (agents/learn/loop/offline_loss.h).
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
  std::vector<Message> messages;  // the prompt of the response, pictures included
  std::string response;
  double reward = 0;
  std::int64_t group = 0;  // samples of one group share a baseline
  bool imitated = false;   // an example to imitate; its reward is ignored
};

struct OfflineConfig {
  std::string name = "self-play";       // name of the training, at the start of messages and progress
  std::filesystem::path start, output;  // model folders; start is the reference too
  std::uint64_t seed = 1;
  int epochs = 3, batch = 64;   // batch in samples, or a few more: samples of one prompt stay together
  double learning_rate = 2e-4;  // falls linearly to 0
  double weight_decay = 0, clip_norm = 1;
  bool baseline = true;  // the advantage is the reward minus its group's mean; false: the reward itself
  OfflineLossOptions loss{.kl = 0.1};
  std::int64_t checkpoint_steps = 20;
  int threads = 0;  // 0: the machine's cores
  // Kept in the checkpoint: the subcommand of the training, and "settings", which agents::require_own_training
  // compares.
  Json notes = Json::object();
};

struct OfflineFigures {
  std::int64_t steps = 0;
  OfflineLossFigures first, last;  // figures of the first and the last epoch, means over their steps
};

// Trains and writes the model folder config.output, with one line of figures a step in config.output/train.jsonl.
// Consecutive samples with the same messages are read together, and the messages once. Killed or stopped, it resumes
// from its last checkpoint when called again with the same samples and config. Each epoch goes through the samples in
// an order drawn from (seed, epoch). The checkpoint stays until the caller has recorded the end of the training and
// removes it. figures: filled in if given. Returns whether training is complete. Throws Error for no samples, for a
// sample that does not fit the context, and for a value that is not finite.
bool train_offline(const OfflineConfig& config, const std::vector<OfflineSample>& samples,
                   const std::atomic<bool>& stop, OfflineFigures* figures = nullptr);

}  // namespace agon::agents
