// agents/learn/loop/sft_config.h - the YAML file of `agon train-sft`: suites, model and schedule.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "agents/hub/model_config.h"
#include "agents/hub/pictures/image_processor.h"
#include "agents/learn/data/sft/source.h"
#include "core/json.h"

namespace agon::agents {

struct SftConfig : DemonstrationConfig {
  std::filesystem::path output;  // model folder to write
  // Model folder whose weights, tokenizer and image settings the training starts from. With it, the score digits in
  // demonstrations are not trained, and auxiliary_weight is 0 unless the file sets it. Empty: fresh weights as the next
  // three keys say.
  std::filesystem::path start;
  ModelConfig model;  // vocab_size and token ids are filled in from the learned tokenizer
  ImageProcessorConfig images;
  int vocabulary = 640;  // tokens of the learned tokenizer, without special ones
  std::int64_t steps = 1000;
  double learning_rate = 1.5e-3;  // peak; linear warm-up, cosine to final_rate x peak
  double final_rate = 0.03;
  std::int64_t warmup_steps = 50;
  double weight_decay = 0.05, beta1 = 0.9, beta2 = 0.98, clip_norm = 1.0;
  double auxiliary_weight = 0.5;  // weight of the object loss on vision tokens, falling linearly to 0 ...
  double auxiliary_until = 0.55;  // ... at this share of the steps
  std::int64_t checkpoint_steps = 200;
  // The second stage, which trains the scores (agents/learn/loop/sft_score.h).
  std::int64_t score_steps = 0;       // 0: scores stay random
  int score_tasks = 500;              // train tasks per source that the model answers for it
  double score_learning_rate = 3e-4;  // falls linearly to 0
  int threads = 0;                    // 0: the machine's cores
  Json source;  // all keys, paths relative to the file; a resumed run compares them with its checkpoint's
};

inline constexpr const char* kSftPaths[] = {"/output", "/start", "/sources/*/writer"};

// changes: "KEY=VALUE", override the file's; their paths are relative to the working folder. Throws Error naming a key
// that is unknown, missing, ill-typed or without effect.
SftConfig load_sft_config(const std::filesystem::path& file, std::span<const std::string> changes = {});

}  // namespace agon::agents
