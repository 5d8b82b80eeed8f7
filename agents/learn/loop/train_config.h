// agents/learn/loop/train_config.h - the YAML file of `agon train`. Every key has a default (docs/train.md); an unknown
// key is refused with the nearest name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/learn/credit/credit.h"
#include "agents/learn/data/picture_change.h"
#include "agents/learn/data/train_source.h"
#include "agents/learn/loop/optimizer_config.h"
#include "core/json.h"
#include "env/env.h"

namespace agon::agents {

struct EvaluationConfig {
  std::int64_t every = 25;  // steps; 0: never. Also before the first step and after the last
  // Split of each source. `best` is chosen on the validation split; on the test split no model is chosen.
  env::Split split = env::Split::validation;
  std::uint64_t tasks = 200;         // per source
  int samples = 4;                   // per task at the training's sampling, in addition to one greedy sample
  std::string metric = "pass_at_1";  // `best` maximises its mean over the sources
};

struct LoraConfig {
  int rank = 0;  // 0: full fine-tuning
  double alpha = 16;
  std::string targets;  // regular expression over module names
};

// The method's settings from this step on.
struct CreditStage {
  std::int64_t from_step = 0;
  Json settings;
};

struct TrainConfig : PlayConfig {
  std::filesystem::path output, policy;
  std::int64_t steps = 100;
  // Device of forward and backward, "cpu" or "cuda". bfloat16: type of their computation; weights and optimiser stay
  // fp32.
  std::string device = "cpu";
  bool bfloat16 = false;
  bool engine_shares = false;  // roll-outs run on that device with the training's own tensors; else on agon's kernels
  std::string method = "grpo";
  Json credit;  // all settings of the method
  std::vector<CreditStage> stages;
  std::map<std::string, double> rewards;      // weights of the reward's components
  std::filesystem::path reward_model;         // folder of the model for component reward_model; empty: none
  std::optional<double> clip_low, clip_high;  // nothing: the method's own
  std::string kl_estimator = "k3";
  std::optional<double> kl_clamp;      // limit of a token's KL in the loss; nothing: none
  int epochs = 1, minibatches = 1;     // epochs x minibatches optimiser steps per step of roll-outs
  std::int64_t rows_per_pass = 16384;  // most tokens per forward and backward, but at least one group
  OptimizerConfig optimizer;
  LoraConfig lora;
  // Probes of methods that credit single steps (agents/learn/loop/probes.h).
  std::string probe_suffix = "<answer>";
  PictureChange probe_picture = PictureChange::white;
  bool probe_mean = false;  // log-probabilities are means over their tokens, not sums
  std::string reference;    // model folder that KL is measured against; empty: `policy` as it was at the start
  int resample = 0;         // how often groups that the method filters are replaced by new tasks
  EvaluationConfig evaluation;
  std::int64_t checkpoint_steps = 25, record_every = 10;
  Json resolved;                      // every key with its value; paths are relative to the working folder
  std::vector<std::string> warnings;  // about the file
};

// The file (empty: none), then `changes` ("optimizer.learning_rate=1e-5", "sources.0.level=3"). Paths in the file are
// relative to it, those of changes to the working folder. Throws Error naming a key that is unknown, missing, ill-typed
// or out of range.
TrainConfig load_train_config(const std::filesystem::path& file, std::span<const std::string> changes);

// Settings that work but are probably not intended: one line each, with what to do.
std::vector<std::string> warnings_of(const TrainConfig& config);

}  // namespace agon::agents
