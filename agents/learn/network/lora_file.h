// agents/learn/network/lora_file.h - reads and writes adapter_config.json and adapter_model.safetensors of PEFT.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "agents/learn/network/transformer_network.h"

namespace agon::agents {

struct LoraFile {
  int rank = 0;
  double alpha = 0;
  bool rank_stabilised = false;  // use_rslora: alpha / sqrt(rank) in place of alpha / rank
  std::map<std::string, LowRank> modules;
  double scale() const;
};

// Reads an adapter as fp32 and checks it against the linears of its model. Throws Error (see LoraAdapter).
LoraFile read_lora(const std::filesystem::path& folder, const std::map<std::string, AdaptableLinear>& linears);
// The names are those of transformers 5.
void write_lora(const std::filesystem::path& folder, const LoraFile& lora, const std::string& base_model);

}  // namespace agon::agents
