// agents/learn/loop/train_config.h - the YAML file of `agon train`. Every key has a default (docs/train.md); a key that
// is not known is refused with the nearest name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agents/expert_turn.h"
#include "agents/learn/credit/credit.h"
#include "agents/learn/data/picture_change.h"
#include "agents/policy.h"
#include "core/json.h"
#include "env/protocol.h"
#include "env/suite.h"

namespace agon::agents {

// The policy plays a role of SPC against another one, and is rewarded by the game (critic/self_play/game.h).
struct GameRules {
  std::filesystem::path against;               // model folder; empty: the policy itself, as it then is
  std::vector<std::filesystem::path> solvers;  // model folders that check what a step does; empty: the policy itself
};

// Where a step's tasks come from.
struct TrainSource {
  env::Suite suite;
  int level = 0;        // as the config has it, for names and figures; 0: it leaves the level to the suite
  int prompts = 16;     // groups a step
  bool expert = false;  // the suite's expert answers, not the policy: one demonstration a task (for method sft)
  std::optional<ExpertTurnRules> expert_turn;  // a roll-out is one turn at a place of an expert's episode
  std::optional<GameRules> game;               // of the roles critic and sneaky
  std::string label() const;
};

// Those whose evaluations differ, each with the name that its figures have: sources of the same tasks, shown in the
// same words, are one. The name is the label of the first; with another 'reexamine' a number follows it.
std::vector<std::pair<std::string, const TrainSource*>> evaluated_sources(const std::vector<TrainSource>& sources);

struct EvaluationConfig {
  std::int64_t every = 25;  // steps; 0: never. Also before the first step and after the last
  // Of each source. On the validation split `best` is chosen; on the test split nothing is.
  env::Split split = env::Split::validation;
  std::uint64_t tasks = 200;         // of each source's split
  int samples = 4;                   // a task at the training's sampling, beside one greedy sample
  std::string metric = "pass_at_1";  // what `best` has the most of, mean over the sources
};

struct OptimizerConfig {
  double learning_rate = 1e-4;
  std::int64_t warmup_steps = 0;      // linear
  std::string schedule = "constant";  // or "cosine", down to final_rate x learning_rate at the last step
  double final_rate = 0.1;
  double weight_decay = 0, beta1 = 0.9, beta2 = 0.99, clip_norm = 1;
};

// Throws Error, which begins with `where` and names the key, for a value with which a training would learn nothing or
// climb its loss. warmup_steps and schedule are the caller's.
void check_optimizer(const std::string& where, const OptimizerConfig& config);

struct LoraConfig {
  int rank = 0;  // 0: full fine-tuning
  double alpha = 16;
  std::string targets;  // regular expression over module names
};

// From this step on the method has these settings too.
struct CreditStage {
  std::int64_t from_step = 0;
  Json settings;
};

struct TrainConfig {
  std::filesystem::path output, policy;
  std::uint64_t seed = 1;
  std::int64_t steps = 100;
  int threads = 0;  // 0: the machine's cores. Another number rounds differently
  // Where forward and backward run, "cpu" or "cuda"; roll-outs are the engine's, on the CPU. bfloat16: they compute in
  // it, weights and optimiser stay fp32.
  std::string device = "cpu";
  bool bfloat16 = false;
  std::vector<TrainSource> sources;
  int samples = 8;  // G, roll-outs a task
  Sampling sampling;
  std::string method = "grpo";
  Json credit;  // all settings of the method
  std::vector<CreditStage> stages;
  std::map<std::string, double> rewards;      // of the reward's components
  std::filesystem::path reward_model;         // folder of the one that gives component reward_model; empty: none
  std::optional<double> clip_low, clip_high;  // nothing: the method's own
  std::string kl_estimator = "k3";
  std::optional<double> kl_clamp;      // of a token's KL in the loss; nothing: none
  int epochs = 1, minibatches = 1;     // optimiser steps on one step's roll-outs: epochs x minibatches
  std::int64_t rows_per_pass = 16384;  // tokens of one forward and backward at most, whole groups at least
  OptimizerConfig optimizer;
  LoraConfig lora;
  // How methods that credit single steps ask about them (agents/learn/loop/probes.h).
  std::string probe_suffix = "<answer>";
  PictureChange probe_picture = PictureChange::white;
  bool probe_mean = false;  // log-probabilities are means over their tokens, not sums
  env::StepRule step_rule = env::StepRule::sentence;
  std::string reference;        // model folder that KL is measured against; empty: `policy` as it was at the start
  bool filter_offline = false;  // train only on tasks that the first policy answers neither all right nor all wrong
  int offline_tasks = 1000;     // a source, to choose from
  int resample = 0;             // times that tasks are drawn again in place of groups that the method filters
  EvaluationConfig evaluation;
  std::int64_t checkpoint_steps = 25, record_every = 10;
  Json resolved;                      // every key with its value; paths are relative to the working folder
  std::vector<std::string> warnings;  // of what the file says
};

// The file (empty: none), then `changes` ("optimizer.learning_rate=1e-5", "sources.0.level=3"). Paths in the file are
// relative to it, those of changes to the working folder. Throws Error naming the key that is unknown, missing,
// ill-typed or out of range.
TrainConfig load_train_config(const std::filesystem::path& file, std::span<const std::string> changes);

// What works, but hardly as it was meant: one line each, with what to do.
std::vector<std::string> warnings_of(const TrainConfig& config);

}  // namespace agon::agents
