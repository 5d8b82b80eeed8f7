// agents/hub/model_config.h - reads and writes config.json of a Qwen2.5-VL checkpoint, as on the hub.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"

namespace agon::agents {

struct VisionConfig {
  int depth = 32, hidden_size = 1280, intermediate_size = 3420, num_heads = 16, out_hidden_size = 2048;
  int in_channels = 3, patch_size = 14, temporal_patch_size = 2, spatial_merge_size = 2;
  int window_size = 112;  // pixels
  std::vector<int> fullatt_block_indexes{7, 15, 23, 31};
};

struct TextConfig {
  int vocab_size = 151936, hidden_size = 2048, intermediate_size = 11008, num_hidden_layers = 36;
  int num_attention_heads = 16, num_key_value_heads = 2, max_position_embeddings = 128000;
  double rms_norm_eps = 1e-6, rope_theta = 1e6;
  std::array<int, 3> mrope_section{16, 24, 24};  // sums to head_dim / 2
  bool tie_word_embeddings = true;
  int head_dim() const { return hidden_size / num_attention_heads; }
};

struct ModelConfig {
  VisionConfig vision;
  TextConfig text;
  std::int32_t image_token_id = 151655, video_token_id = 151656, vision_start_token_id = 151652,
               vision_end_token_id = 151653;
  std::vector<std::int32_t> eos_token_ids{151645};
};

// Accepts the flat layout (Qwen2.5-VL hub files) and text_config (newer saves), rope_scaling and rope_parameters.
// Throws Error naming the key for a missing, ill-typed or contradictory value and for a model_type other than
// qwen2_5_vl. `source` names the file.
ModelConfig parse_model_config(const Json& json, const std::string& source);
Json to_json(const ModelConfig& config);  // loads in transformers 5 and back here

}  // namespace agon::agents
