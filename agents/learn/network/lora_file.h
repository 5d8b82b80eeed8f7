// agents/learn/network/lora_file.h - reads and writes a LoRA adapter in PEFT's file format (agents/hub/peft_adapter.h)
// as tensors.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "agents/hub/peft_config.h"
#include "agents/learn/network/transformer_network.h"

namespace agon::agents {

struct LoraFile {
  PeftConfig config;
  std::map<std::string, LowRank> modules;
};

// Reads an adapter as fp32 and checks it against the linears of its model. Throws Error (see open_peft_adapter).
LoraFile read_lora(const std::filesystem::path& folder, const std::map<std::string, AdaptableLinear>& linears);
// Writes tensor names as in transformers 5. sees: whether the model has a vision tower.
void write_lora(const std::filesystem::path& folder, const LoraFile& lora, const std::string& base_model, bool sees);

}  // namespace agon::agents
