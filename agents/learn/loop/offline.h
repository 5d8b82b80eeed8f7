// agents/learn/loop/offline.h - trains a model on recorded responses with rewards, by the loss of offline self-play
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
  std::vector<Message> messages;  // the prompt, pictures included
  std::string response;
  double reward = 0;
  std::int64_t group = 0;  // samples of one group share a baseline
  bool imitated = false;   // an example to imitate; its reward is ignored
};

struct OfflineConfig {
  std::string name = "self-play";       // name of the training, at the start of messages and progress
  std::filesystem::path start, output;  // model folders; start is the reference too
  std::uint64_t seed = 1;
  int epochs = 3, batch = 64;   // batch: samples per step; more if needed to keep samples of one prompt together
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
  OfflineLossFigures first, last;  // means over the steps of the first and the last epoch
};

// Trains and writes the model folder config.output, with one line of figures per step in config.output/train.jsonl.
// Consecutive samples with the same messages share a pass that reads the messages once. After a kill or stop, a call
// with the same samples and config resumes from the last checkpoint. Each epoch goes through the samples in an order
// drawn from (seed, epoch). The checkpoint stays: the caller removes it after recording the end of the training.
// figures: filled in if given. Returns whether training is complete. Throws Error for an empty list of samples, for a
// sample that does not fit the context, and for a value that is not finite.
bool train_offline(const OfflineConfig& config, const std::vector<OfflineSample>& samples,
                   const std::atomic<bool>& stop, OfflineFigures* figures = nullptr);

}  // namespace agon::agents
