// agents/learn/loop/sft_config.h - the YAML file of `agon train-sft`: which suites, which model, which schedule.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "agents/hub/image_processor.h"
#include "agents/hub/model_config.h"
#include "core/json.h"
#include "env/suite.h"

namespace agon::agents {

struct SftSource {
  // Of two turns (env/wrappers/two_turn.h): the first answer is one of `start`, right or wrong, shown and not learned;
  // the second one is the expert's.
  env::Suite suite{"charts"};
  int level = 0;       // as the config has it, for names and random streams; 0: it leaves the level to the suite
  int episodes = 16;   // demonstrations of this source a step
  double detours = 0;  // chance before each turn of a wrong action that is shown, not learned: the way back is
  // Of role critic: the model folder whose steps are shown, in place of experts' steps that are right or made wrong
  // (agents/learn/data/sft_written.h), from so many train tasks.
  std::filesystem::path writer;
  int written_tasks = 5000;
  // The suite for its solver, who answers once: what models play that demonstrations show.
  env::Suite solver() const { return suite.with({.level = level}); }
};

struct SftConfig {
  std::filesystem::path output;  // model folder to write
  std::uint64_t seed = 1;
  std::vector<SftSource> sources;
  // Model folder whose weights, tokenizer and images the training goes on from; the digits of its scores are not
  // trained, and the object loss is 0 unless it is given. Empty: fresh weights of the three keys below.
  std::filesystem::path start;
  ModelConfig model;  // vocab_size and token ids are filled in from the tokenizer learned
  ImageProcessorConfig images;
  int vocabulary = 640;  // tokens of the learned tokenizer, special ones not counted
  std::int64_t steps = 1000;
  double learning_rate = 1.5e-3;  // peak; linear warm-up, cosine to final_rate x peak
  double final_rate = 0.03;
  std::int64_t warmup_steps = 50;
  double weight_decay = 0.05, beta1 = 0.9, beta2 = 0.98, clip_norm = 1.0;
  double auxiliary_weight = 0.5;  // of the object loss on vision tokens, falling linearly to 0 ...
  double auxiliary_until = 0.55;  // ... at this share of the steps
  std::int64_t checkpoint_steps = 200;
  // The stage after it, in which the scores learn what they say (agents/learn/loop/sft_score.h).
  std::int64_t score_steps = 0;       // 0: scores stay random
  int score_tasks = 500;              // train tasks a source that the model answers for it
  double score_learning_rate = 3e-4;  // falls linearly to 0
  int threads = 0;                    // 0: the machine's cores
  Json source;  // the keys, paths relative to the file, kept to tell whether a run resumes with the same config
  // Where the train tasks of the source number `index` begin. Sources of one suite and level share none, nor a random
  // stream.
  std::uint64_t first_task(std::size_t index) const;
};

inline constexpr const char* kSftPaths[] = {"/output", "/start", "/sources/*/writer"};

// changes: "KEY=VALUE" in place of the file's; their paths are relative to the working folder. Throws Error naming the
// key that is unknown, missing, ill-typed or changes nothing beside the others.
SftConfig load_sft_config(const std::filesystem::path& file, std::span<const std::string> changes = {});

}  // namespace agon::agents
