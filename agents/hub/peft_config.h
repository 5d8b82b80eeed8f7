// agents/hub/peft_config.h - adapter_config.json, in which PEFT describes a LoRA adapter (Hu et al. 2021).
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

// Names of modules as PEFT compares them: whole, or their end behind a dot; or a regular expression of whole names.
struct ModuleNames {
  std::vector<std::string> names;
  std::optional<NamePattern> pattern;
  bool contain(const std::string& module) const;
};

// "target_modules", "exclude_modules" and "layers_to_transform". Of the modules: names as in the model that the adapter
// was trained on.
struct PeftTargets {
  bool all = false;  // "all-linear"
  ModuleNames chosen, excluded;
  std::vector<int> layers;  // empty: all
  bool contain(const std::string& module) const;
};

struct PeftConfig {
  std::string base_model;  // a folder, or a name on the hub; empty: not told
  int rank = 0;
  double alpha = 0;
  bool rank_stabilised = false;  // "use_rslora"
  PeftTargets targets = {};
  double scale() const;  // of B A: alpha / rank, or alpha / sqrt(rank)
};

// A folder that holds an adapter, and no model of its own.
bool is_adapter_folder(const std::filesystem::path& folder);
// Throws Error for a file that is missing or damaged, and for a setting that agon does not support, with its value.
PeftConfig read_peft_config(const std::filesystem::path& folder);
// `modules`: the adapted ones, by their names on the hub. The targets are made of them.
void write_peft_config(const std::filesystem::path& folder, const PeftConfig& config,
                       std::span<const std::string> modules);
// The folder of an adapter's base: as the config has it from the adapter's folder or else from the current one, or in
// the hub's cache. Throws Error where it is in none of them.
std::filesystem::path base_of_adapter(const std::filesystem::path& folder);

}  // namespace agon::agents
