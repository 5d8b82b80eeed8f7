#include "agents/learn/credit/unused_settings.h"

#include <algorithm>

namespace agon::agents {
namespace {

// If `key` has one of `values`, the settings in `names` have no effect.
struct Rule {
  std::vector<std::string> methods;  // empty: all that have the key
  std::string key;
  std::vector<Json> values;
  std::vector<std::string> names;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {{}, "std", {"none", false}, {"epsilon"}},
      {{"dapo"}, "dynamic_sampling", {false}, {"filter_on"}},
      {{"dapo"}, "overlong_buffer", {0}, {"overlong_penalty", "max_tokens"}},
      {{"adapo"}, "arm", {false}, {"preset", "k01", "k11", "k10", "k00", "theta"}},
      {{"adapo"}, "reward_aware_kl", {false}, {"lambda"}},
      {{"adapo"}, "filters", {false}, {"filter_on"}},
      {{"score"}, "stage", {1}, {"alpha"}},
      {{"score"}, "stage", {2}, {"beta2"}},
      {{"pdcr"}, "split", {"top_k", "random", "none"}, {"otsu", "threshold"}},
      {{"pdcr"}, "split", {"otsu", "none"}, {"visual_share"}},
      {{"pdcr"}, "split", {"otsu", "top_k", "none"}, {"seed"}},
      {{"pdcr"}, "lambda_p", {0}, {"gamma", "pool", "center", "split", "otsu", "threshold", "visual_share", "seed"}},
      {{"pacr"}, "lambda_p", {0}, {"gamma", "pool", "center"}}};
  return all;
}

bool applies(const Rule& rule, const std::string& method, const Json& settings) {
  const auto holds = [](const auto& list, const auto& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  return (rule.methods.empty() || holds(rule.methods, method)) && settings.contains(rule.key) &&
         holds(rule.values, settings.at(rule.key));
}

}  // namespace

std::vector<UnusedSetting> unused_settings(const std::string& method, const Json& settings) {
  std::vector<UnusedSetting> unused;
  for (const Rule& rule : rules()) {
    if (!applies(rule, method, settings)) continue;
    for (const std::string& name : rule.names)
      if (settings.contains(name))
        unused.push_back({name, "with " + rule.key + "=" +
                                    (settings[rule.key].is_string() ? settings[rule.key].get<std::string>()
                                                                    : settings[rule.key].dump())});
  }
  const auto given = [&](const char* slope) { return settings.contains(slope) && settings[slope] != "preset"; };
  if (given("k01") && given("k11")) unused.push_back({"preset", "where k01 and k11 are numbers"});
  return unused;
}

bool has_kl(const std::string& method, const Json& settings) {
  const auto above_0 = [&](const char* name) { return settings.value(name, 0.0) > 0; };
  if (method == "adapo")
    return above_0("beta_base") || (settings.at("reward_aware_kl").get<bool>() && above_0("lambda"));
  return above_0("kl") || above_0("beta1") || (above_0("beta2") && settings.value("stage", 0) == 1);
}

bool drops_groups(const std::string& method, const Json& settings) {
  if (method == "dapo") return settings.at("dynamic_sampling").get<bool>();
  if (method == "adapo") return settings.at("filters").get<bool>();
  return method == "sft" || method == "star";  // they drop groups with nothing to imitate
}

}  // namespace agon::agents
