#include "agents/learn/loop/learning_rate.h"

#include <cmath>
#include <numbers>

namespace agon::agents {

double rate_at(const LearningRate& rate, std::int64_t step) {
  if (step < rate.warmup_steps)
    return rate.peak * static_cast<double>(step + 1) / static_cast<double>(rate.warmup_steps);
  if (rate.decay == Decay::none) return rate.peak;
  const double share = static_cast<double>(step - rate.warmup_steps) / static_cast<double>(rate.decay_steps);
  const double left = rate.decay == Decay::cosine ? 0.5 * (1 + std::cos(std::numbers::pi * share)) : 1 - share;
  return rate.peak * (rate.final_share + (1 - rate.final_share) * left);
}

}  // namespace agon::agents
