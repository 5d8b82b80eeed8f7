// cli/learning/entries.h - the functions of libagon_learn.so, which holds all code of agon that needs LibTorch. It is a
// library of its own, next to the program, because LibTorch takes 0.4 s and 110 MB to load and most commands do not
// need it. The program calls its functions like its own; the first call loads it (cli/learning/on_demand.cc).
// Everything else that the library uses is exported by the program.
#pragma once

#include <string>

#include "agents/engine/open_backend.h"
#include "agents/learn/loop/decomposition.h"
#include "agents/learn/loop/offline.h"
#include "agents/learn/loop/sft.h"
#include "agents/learn/loop/train.h"
#include "agents/learn/network/sentence_encoder.h"
#include "agents/learn/network/torch_info.h"
#include "critic/reward_model/engine_reward_model.h"
#include "critic/reward_model/judge_training.h"
#include "critic/reward_model/training.h"

namespace agon::cli {

struct LearningEntries {
  std::string (*version)();  // of the library; the program refuses any version but its own
  decltype(&agents::train) train;
  decltype(&agents::train_sft) train_sft;
  decltype(&agents::train_offline) train_offline;
  decltype(&agents::probed_group) probed_group;
  decltype(&agents::split_steps_of) split_steps_of;
  decltype(&agents::make_sentence_similarity) make_sentence_similarity;
  decltype(&agents::torch_info) torch_info;
  decltype(&agents::open_torch_backend) open_torch_backend;
  decltype(&critic::open_reward_model) open_reward_model;
  decltype(&critic::load_reward_training) load_reward_training;
  decltype(&critic::train_reward_model) train_reward_model;
  decltype(&critic::train_judge) train_judge;
};

inline constexpr const char* kLearningLibrary = "libagon_learn.so";
inline constexpr const char* kLearningSymbol =
    "kAgonLearningEntries";  // a LearningEntries, the only symbol looked up by name

}  // namespace agon::cli
