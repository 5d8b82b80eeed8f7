// critic/reward_model/training.h - trains a reward model on preferences, for `agon train-rm`.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "agents/learn/loop/ranking_loss.h"
#include "agents/learn/network/reward_network.h"
#include "core/json.h"

namespace agon::critic {

// The kind of model to train. none: a reward model. pairs: a judge that compares two responses. choice: a judge that
// names the best of all.
enum class JudgeForm { none, pairs, choice };

struct RewardTrainingConfig {
  std::filesystem::path output;
  std::vector<std::filesystem::path> data;  // files of preferences
  std::map<std::string, double> weights;    // per category (critic/reward_model/mixture.h)
  agents::RewardNetworkSettings network;
  // A judge uses only the base of `network`; it ignores loss, imitation, shuffle and held_out.
  JudgeForm judge = JudgeForm::none;
  agents::RankingLoss loss = agents::RankingLoss::cross_entropy;
  double imitation = 0;    // weight of imitation (agents/learn/loop/reward_learner.h)
  bool shuffle = true;     // draw a new order of the responses each time
  double held_out = 0.05;  // share of the sets excluded from training, for figures and the fit of probabilities
  std::uint64_t seed = 1;
  int epochs = 3, batch = 64;   // batch: number of sets
  double learning_rate = 1e-4;  // falls linearly to 0
  double weight_decay = 0, clip_norm = 1;
  std::int64_t checkpoint_steps = 50;
  int threads = 0;  // 0: the machine's cores
  Json source;      // the keys, changes included; paths are relative to the file
};

inline constexpr const char* kRewardTrainingPaths[] = {"/output", "/model", "/data/*"};

// Reads a YAML file; docs/reward_model.md lists its keys. Its paths are relative to the file. changes: "KEY=VALUE"
// overrides a key of the file, with paths relative to the working folder. Throws Error naming the key.
RewardTrainingConfig load_reward_training(const std::filesystem::path& file, std::span<const std::string> changes);

// A hash of everything that the trained weights depend on: the settings (except threads, checkpoint_steps and output),
// the base's weights (`base_weights`) and the data.
std::string training_fingerprint(const RewardTrainingConfig& config, const std::string& base_weights);

// The inputs of the fingerprint as single keys, for messages; "model files" and "data files" are hashes. config:
// RewardTrainingConfig::source; provenance: the result of training_provenance. Null if config is not an object.
Json training_settings(Json config, const Json& provenance);

// The provenance of a training run (core/provenance.h), with the base ("policy") and the data files by path and hash.
Json training_provenance(const RewardTrainingConfig& config);

// Trains a reward model and writes its folder config.output, with one line of figures per step in train.jsonl and a
// card in README.md. If it was killed or stopped, it resumes from its last checkpoint when called again with the same
// config and data (threads, checkpoint_steps and output may differ). Sets whose responses all have the same rank are
// skipped and counted. Returns the model's notes, with figures on the held-out sets, or null if it was stopped.
// Throws Error for data that cannot be read or teaches nothing, a set that exceeds the context, a value that is not
// finite, and a folder in which another process trains.
Json train_reward_model(const RewardTrainingConfig& config, const std::atomic<bool>& stop);

}  // namespace agon::critic
