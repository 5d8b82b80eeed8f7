// agents/learn/loop/learning_rate.h - the learning rate of each step of a training run: it rises to its peak in a
// warm-up, then stays there or falls.
#pragma once

#include <cstdint>

namespace agon::agents {

enum class Decay { none, cosine, linear };

struct LearningRate {
  double peak = 1e-4;
  std::int64_t warmup_steps = 0;  // warm-up step s has the rate peak * (s + 1) / warmup_steps
  Decay decay = Decay::none;
  double final_share = 0;        // share of the peak at the end of the decay
  std::int64_t decay_steps = 1;  // length of the decay, which follows the warm-up
};
// step: from 0.
double rate_at(const LearningRate& rate, std::int64_t step);

}  // namespace agon::agents
