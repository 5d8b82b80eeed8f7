// agents/learn/loop/optimizer_config.h - the settings of AdamW and its learning rate in the config of `agon train`, and
// their checks.
#pragma once

#include <cstdint>
#include <string>

namespace agon::agents {

struct OptimizerConfig {
  double learning_rate = 1e-4;
  std::int64_t warmup_steps = 0;      // linear
  std::string schedule = "constant";  // or "cosine", down to final_rate x learning_rate at the last step
  double final_rate = 0.1;
  double weight_decay = 0, beta1 = 0.9, beta2 = 0.99, clip_norm = 1;
};

// Throws Error, starting with `where` and naming the key, for a value with which a training run would learn nothing or
// increase its loss. The caller checks warmup_steps and schedule.
void check_optimizer(const std::string& where, const OptimizerConfig& config);

}  // namespace agon::agents
