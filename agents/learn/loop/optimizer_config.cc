#include "agents/learn/loop/optimizer_config.h"

#include "core/error.h"

namespace agon::agents {

void check_optimizer(const std::string& where, const OptimizerConfig& config) {
  const auto require_range = [&](bool holds, const char* rule, double value) {
    if (!holds) throw Error("{}: {}, got {}.", where, rule, value);
  };
  require_range(config.learning_rate > 0, "'learning_rate' must be above 0", config.learning_rate);
  require_range(config.final_rate >= 0 && config.final_rate <= 1, "'final_rate' must lie in [0, 1]", config.final_rate);
  require_range(config.weight_decay >= 0, "'weight_decay' must be at least 0", config.weight_decay);
  require_range(config.beta1 >= 0 && config.beta1 < 1, "'beta1' must lie in [0, 1)", config.beta1);
  require_range(config.beta2 >= 0 && config.beta2 < 1, "'beta2' must lie in [0, 1)", config.beta2);
  require_range(config.clip_norm > 0, "'clip_norm' must be above 0", config.clip_norm);
}

}  // namespace agon::agents
