#include "agents/hub/architecture.h"

#include <algorithm>
#include <array>

namespace agon::agents {
namespace {

constexpr std::array kArchitectures = {
    Architecture{"llama", "LlamaForCausalLM", "", Biases::all_by_config, false, false},
    Architecture{"qwen2", "Qwen2ForCausalLM", "", Biases::qkv, false, false},
    Architecture{"qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl_text", Biases::qkv, false, true},
    Architecture{"qwen3", "Qwen3ForCausalLM", "", Biases::attention_by_config, true, false},
};

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }

const Architecture* find_architecture(std::string_view model_type) {
  const auto found = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                  [&](const Architecture& one) { return one.model_type == model_type; });
  return found == kArchitectures.end() ? nullptr : &*found;
}

std::string known_architectures() {
  std::string names;
  for (const Architecture& one : kArchitectures) names += (names.empty() ? "" : ", ") + std::string(one.model_type);
  return names;
}

}  // namespace agon::agents
