// agents/hub/peft_adapter.h - reads the matrices of a LoRA adapter in PEFT's format: adapter_model.safetensors next to
// adapter_config.json. The adapter adds scale * B (A x) to a linear, with A [rank, inputs] and B [outputs, rank]. This
// header needs no torch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "agents/hub/model_config.h"
#include "agents/hub/peft_config.h"
#include "agents/hub/safetensors.h"

namespace agon::agents {

inline constexpr const char* kPeftTensorFile = "adapter_model.safetensors";

struct LinearShape {
  std::int64_t outputs = 0, inputs = 0;
  bool operator==(const LinearShape&) const = default;
};
// Shapes by the module's name on the hub: "model.layers.0.self_attn.q_proj", "visual.blocks.0.attn.qkv".
using LinearShapes = std::map<std::string, LinearShape>;
// The linears that an adapter may change: all of the decoder and the vision tower except the patch embedding, the token
// embedding and the head.
LinearShapes adaptable_linears(const ModelConfig& config);

struct PeftMatrices {
  TensorView a, b;
};
struct PeftAdapter {
  PeftConfig config;
  std::map<std::string, PeftMatrices> modules;  // by their names on the hub
  std::shared_ptr<const SafetensorsFile> file;  // keeps the views valid
};
// Opens an adapter for a model with these linears, named as in transformers 5 or 4. Throws Error for files that are
// missing or damaged. One Error lists all matrices that are missing, not expected, of another shape or not finite.
PeftAdapter open_peft_adapter(const std::filesystem::path& folder, const LinearShapes& linears);

// The tensor's name in PEFT's file, for transformers 5. matrix: 'A' or 'B'. sees: the model has a vision tower.
std::string peft_tensor_name(const std::string& module, char matrix, bool sees);

}  // namespace agon::agents
