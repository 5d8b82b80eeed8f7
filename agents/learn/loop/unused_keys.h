// agents/learn/loop/unused_keys.h - refuses keys of a training run's config that would change nothing, so that no
// setting is silently ignored.
#pragma once

#include <string>
#include <vector>

#include "agents/learn/loop/train_config.h"
#include "core/json.h"

namespace agon::agents {

struct KeyUse {
  std::string key;           // "optimizer.final_rate"
  bool set = false;          // differs from its default
  bool used = false;         // it has an effect in this training
  std::string why;           // "with optimizer.schedule: constant"
  std::string instead = {};  // "set optimizer.schedule to cosine"; empty: leave it out
};
// Throws Error for the first key that is set and not used: "train: 'optimizer.final_rate' does nothing with
// optimizer.schedule: constant. Leave it out, or set optimizer.schedule to cosine." where: the start of the message.
void require_used(const std::string& where, const std::vector<KeyUse>& uses);

// Checks all keys of `agon train`. A default value is never refused, so that a config with every key written out loads
// again. resolved: config.resolved before the method's own settings were filled in; standard: the defaults.
void require_used_keys(const TrainConfig& config, const Json& resolved, const Json& standard);

}  // namespace agon::agents
