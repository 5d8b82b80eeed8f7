// agents/hub/peft_adapter.h - the matrices of a LoRA adapter in PEFT's form: adapter_model.safetensors beside
// adapter_config.json. To a linear it adds scale * B (A x), A [rank, inputs] and B [outputs, rank]. No torch here.
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
// By the module's name on the hub: "model.layers.0.self_attn.q_proj", "visual.blocks.0.attn.qkv".
using LinearShapes = std::map<std::string, LinearShape>;
// The linears of a model that may be adapted: of the decoder and the vision tower, without the patch embedding, the
// embedding and the head.
LinearShapes adaptable_linears(const ModelConfig& config);

struct PeftMatrices {
  TensorView a, b;
};
struct PeftAdapter {
  PeftConfig config;
  std::map<std::string, PeftMatrices> modules;  // by their names on the hub
  std::shared_ptr<const SafetensorsFile> file;  // which the views lie in
};
// An adapter for a model of these linears, with names of transformers 5 or 4. Throws Error for files that are missing
// or damaged, and one that lists every matrix that is missing, not expected, of another shape or not finite.
PeftAdapter open_peft_adapter(const std::filesystem::path& folder, const LinearShapes& linears);

// In PEFT's file, for transformers 5. matrix: 'A' or 'B'. sees: the model has a vision tower.
std::string peft_tensor_name(const std::string& module, char matrix, bool sees);

}  // namespace agon::agents
