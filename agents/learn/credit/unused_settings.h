// agents/learn/credit/unused_settings.h - finds the settings of a credit method that have no effect together with its
// other settings.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace agon::agents {

struct UnusedSetting {
  std::string name;  // "alpha"
  std::string why;   // "with stage=1"
};
// settings: all settings of the method, as credit_settings resolves them.
std::vector<UnusedSetting> unused_settings(const std::string& method, const Json& settings);

// Whether the method's loss has a KL term with these settings.
bool has_kl(const std::string& method, const Json& settings);
// Whether the method drops groups without contrast, which a training run may replace (filter.resample).
bool drops_groups(const std::string& method, const Json& settings);

}  // namespace agon::agents
