// critic/reward_model/training.h - trains a reward model on preferences: the work of `agon train-rm`.
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

// What is trained: none: a reward model; pairs, choice: a judge that compares pairs, or that names the best of all.
enum class JudgeForm { none, pairs, choice };

struct RewardTrainingConfig {
  std::filesystem::path output;
  std::vector<std::filesystem::path> data;  // files of preferences
  std::map<std::string, double> weights;    // of categories (critic/reward_model/mixture.h)
  agents::RewardNetworkSettings network;
  // For a judge only the base of `network` counts; loss, imitation, shuffle and held_out do not.
  JudgeForm judge = JudgeForm::none;
  agents::RankingLoss loss = agents::RankingLoss::cross_entropy;
  double imitation = 0;    // agents/learn/loop/reward_learner.h
  bool shuffle = true;     // the order of the responses is drawn anew each time
  double held_out = 0.05;  // share of the sets kept out of training, for figures and the fit of probabilities
  std::uint64_t seed = 1;
  int epochs = 3, batch = 64;   // sets
  double learning_rate = 1e-4;  // falls linearly to 0
  double weight_decay = 0, clip_norm = 1;
  std::int64_t checkpoint_steps = 50;
  int threads = 0;  // 0: the machine's cores
  Json source;      // the keys, changes included; paths are relative to the file
};

inline constexpr const char* kRewardTrainingPaths[] = {"/output", "/model", "/data/*"};

// Reads a YAML file; docs/reward_model.md has its keys. Paths in it are relative to it. changes: "KEY=VALUE" overrides
// the file's, with paths relative to the working folder. Throws Error naming the key.
RewardTrainingConfig load_reward_training(const std::filesystem::path& file, std::span<const std::string> changes);

// A hash of everything that the weights depend on: settings (except threads, checkpoint_steps and output), the base's
// weights (`base_weights`) and the data.
std::string training_fingerprint(const RewardTrainingConfig& config, const std::string& base_weights);

// The same as single keys, for messages: "model files" and "data files" are hashes. config:
// RewardTrainingConfig::source; provenance: as training_provenance gives it. Null for a config that is not an object.
Json training_settings(Json config, const Json& provenance);

// core/provenance.h: with the base ("policy") and the files of preferences, each by path and hash.
Json training_provenance(const RewardTrainingConfig& config);

// Trains and writes the reward model's folder: config.output, with one line of figures a step in train.jsonl and a card
// in README.md. Killed or stopped, it resumes from its last checkpoint when called again with the same config and data
// (threads, checkpoint_steps and output may differ). Sets whose responses all have the same rank are skipped and
// counted. Returns the notes of the model, figures on the held-out sets included, or null if it was stopped. Throws
// Error for data that cannot be read or teaches nothing, a set that exceeds the context, a value that is not finite,
// and a folder in which another process trains.
Json train_reward_model(const RewardTrainingConfig& config, const std::atomic<bool>& stop);

}  // namespace agon::critic
