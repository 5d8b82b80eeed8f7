#include "agents/hub/architecture.h"

#include <algorithm>
#include <array>

namespace agon::agents {

constexpr Tower kQwen2Tower{.model_type = "qwen2_vl_vision",
                            .mlp = Mlp::quick_gelu,
                            .activation = "quick_gelu",
                            .mlp_in = "fc1",
                            .mlp_out = "fc2",
                            .merger_norm = "ln_q",
                            .merger_in = "mlp.0",
                            .merger_out = "mlp.2",
                            .is_centred = true,
                            .has_mlp_ratio = true};
constexpr Tower kQwen25Tower{.model_type = "qwen2_5_vl_vision",
                             .mlp = Mlp::swiglu,
                             .activation = "silu",
                             .mlp_in = "",
                             .mlp_out = "down_proj",
                             .merger_norm = "ln_q",
                             .merger_in = "mlp.0",
                             .merger_out = "mlp.2",
                             .has_windows = true,
                             .video_time = VideoTime::seconds};
constexpr Tower kQwen3Tower{.model_type = "qwen3_vl_vision",
                            .mlp = Mlp::tanh_gelu,
                            .activation = "gelu_pytorch_tanh",
                            .mlp_in = "linear_fc1",
                            .mlp_out = "linear_fc2",
                            .merger_norm = "norm",
                            .merger_in = "linear_fc1",
                            .merger_out = "linear_fc2",
                            .is_centred = true,
                            .learns_places = true,
                            .is_stacked = true,
                            .video_time = VideoTime::timestamps};

namespace {

constexpr std::array kArchitectures = {
    Architecture{"llama", "LlamaForCausalLM", "", Biases::all_by_config, false},
    Architecture{"qwen2", "Qwen2ForCausalLM", "", Biases::qkv, false},
    Architecture{"qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl_text", Biases::qkv, false,
                 &kQwen25Tower},
    Architecture{"qwen2_vl", "Qwen2VLForConditionalGeneration", "qwen2_vl_text", Biases::qkv, false, &kQwen2Tower},
    Architecture{"qwen3", "Qwen3ForCausalLM", "", Biases::attention_by_config, true},
    Architecture{"qwen3_vl", "Qwen3VLForConditionalGeneration", "qwen3_vl_text", Biases::attention_by_config, true,
                 &kQwen3Tower, true, true},
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
