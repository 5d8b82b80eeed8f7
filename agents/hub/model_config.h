// agents/hub/model_config.h - the configuration of a model, from which both the engine and the torch network are built.
// It is read from and written to the hub's config.json. agents/hub/architecture.h lists the architectures.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/hub/architecture.h"
#include "core/json.h"

namespace agon::agents {

struct VisionConfig {
  int depth = 32, hidden_size = 1280, intermediate_size = 3420, num_heads = 16, out_hidden_size = 2048;
  int in_channels = 3, patch_size = 14, temporal_patch_size = 2, spatial_merge_size = 2;
  int window_size = 112;  // pixels; only if the tower has windows
  std::vector<int> fullatt_block_indexes{7, 15, 23, 31};
  int position_embeddings = 0;             // of a tower that learns places: the number of places in a square; else 0
  int tokens_per_second = 4;               // for VideoTime::seconds
  std::vector<int> deepstack_blocks = {};  // ascending; the i-th's states are added after layer i of the text
  const Tower* tower = &kQwen25Tower;

  bool sees_whole_frame(int block) const;  // false: only windows of it
  int places_a_side() const;               // side length of the square of position_embeddings
  // Number of vectors of the text's width that an image token has: its embedding, then one vector to add to the states
  // after each of the first layers.
  int vectors_a_token() const { return 1 + static_cast<int>(deepstack_blocks.size()); }
};

// Llama 3's scaling of RoPE for contexts longer than the trained one: low frequencies are divided by `factor`, high
// ones are kept, and those between are interpolated. A frequency is low if it turns fewer than low_frequency_factor
// times in the trained context, and high if it turns more than high_frequency_factor times.
struct RopeScaling {
  double factor = 8, low_frequency_factor = 1, high_frequency_factor = 4;
  int trained_positions = 8192;
};

struct TextConfig {
  int vocab_size = 151936, hidden_size = 2048, intermediate_size = 11008, num_hidden_layers = 36;
  int num_attention_heads = 16, num_key_value_heads = 2, max_position_embeddings = 128000;
  double rms_norm_eps = 1e-6, rope_theta = 1e6;
  std::optional<RopeScaling> rope_scaling;
  std::array<int, 3> mrope_section{16, 24, 24};  // sums to head_dim / 2; in a text model all are on the first axis
  bool interleaves_axes = false;  // true: frequencies alternate between axes, rest on the first; false: axis by axis
  bool tie_word_embeddings = true;
  bool qkv_bias = true, attention_out_bias = false, mlp_bias = false;
  bool normalises_heads = false;  // an RMS norm over each query and key head before rotation
  int head_size = 0;              // 0: hidden_size / num_attention_heads
  int head_dim() const { return head_size > 0 ? head_size : hidden_size / num_attention_heads; }
};
// The scaled frequency in radians per position, computed in fp32 as transformers does.
float scaled_frequency(float frequency, const RopeScaling& scaling);
// The axis (0 time, 1 height, 2 width) whose position each frequency turns by: [head_dim / 2].
std::vector<int> frequency_axes(const TextConfig& config);

struct ModelConfig {
  std::string model_type = "qwen2_5_vl";
  std::optional<VisionConfig> vision = VisionConfig{};  // nullopt: a text model
  TextConfig text;
  // -1 in a text model.
  std::int32_t image_token_id = 151655, video_token_id = 151656, vision_start_token_id = 151652,
               vision_end_token_id = 151653;
  std::vector<std::int32_t> eos_token_ids{151645};  // empty: generation_config.json has them
  // Whether the token is a placeholder for part of a picture or a video.
  bool shows(std::int32_t id) const { return id == image_token_id || id == video_token_id; }
};

// Accepts the flat layout (hub files of Qwen2-VL and Qwen2.5-VL) and text_config (newer files), rope_scaling and
// rope_parameters. Throws Error that names the key for a missing, ill-typed or contradictory value; for an unknown
// model_type the Error lists the known ones. `source` names the file.
ModelConfig parse_model_config(const Json& json, const std::string& source);
Json to_json(const ModelConfig& config);  // transformers 5 and parse_model_config can both load it

}  // namespace agon::agents
