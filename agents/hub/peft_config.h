// agents/hub/peft_config.h - reads and writes adapter_config.json, PEFT's config of a LoRA adapter (Hu et al. 2021).
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/hub/name_pattern.h"
#include "core/json.h"

namespace agon::agents {

inline constexpr const char* kPeftConfigFile = "adapter_config.json";

// A set of module names with PEFT's matching rule. A name matches a module of that name, and a module that ends with a
// dot and that name. A regular expression must match the whole module name.
struct ModuleNames {
  std::vector<std::string> names;
  std::optional<NamePattern> pattern;
  bool contain(const std::string& module) const;
};

// "target_modules", "exclude_modules" and "layers_to_transform". Modules are named as in the model on which the adapter
// was trained.
struct PeftTargets {
  bool all = false;  // "all-linear"
  ModuleNames chosen, excluded;
  std::vector<int> layers;  // empty: all
  bool contain(const std::string& module) const;
};

struct PeftConfig {
  std::string base_model;  // a folder, or a name on the hub; empty: not given
  int rank = 0;
  double alpha = 0;
  bool rank_stabilised = false;  // "use_rslora"
  PeftTargets targets = {};
  double scale() const;  // the factor of B A: alpha / rank, or alpha / sqrt(rank)
};

// Whether the folder holds an adapter and not a whole model.
bool is_adapter_folder(const std::filesystem::path& folder);
// Throws Error for a file that is missing or damaged, and for a setting that agon does not support, with its value.
PeftConfig read_peft_config(const std::filesystem::path& folder);
// `modules`: the adapted modules, by their names on the hub. They become "target_modules"; config.targets is ignored.
void write_peft_config(const std::filesystem::path& folder, const PeftConfig& config,
                       std::span<const std::string> modules);
// The folder of an adapter's base. The config's path is resolved against the adapter's folder, then against the current
// one, then looked up in the hub's cache. Throws Error if it is in none of them.
std::filesystem::path base_of_adapter(const std::filesystem::path& folder);

}  // namespace agon::agents
