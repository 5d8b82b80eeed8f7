// agents/hub/model_config.h - the description of a model, from which the engine and the torch network are both built;
// reads and writes it as the config.json of the hub. agents/hub/architecture.h has the architectures.
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
  int window_size = 112;  // pixels; of a tower that has windows
  std::vector<int> fullatt_block_indexes{7, 15, 23, 31};
  int position_embeddings = 0;             // of a tower that learns places: those of a square; else 0
  int tokens_per_second = 4;               // of VideoTime::seconds
  std::vector<int> deepstack_blocks = {};  // ascending: the states after the i-th of them reach layer i of the text
  const Tower* tower = &kQwen25Tower;

  bool sees_whole_frame(int block) const;  // else windows
  int places_a_side() const;               // of the square of position_embeddings
  // The values that an image token has, in vectors of the text's width: its embedding, then what is added to the states
  // after each of the first layers.
  int vectors_a_token() const { return 1 + static_cast<int>(deepstack_blocks.size()); }
};

// Llama 3 reads longer texts than it was trained on: slow rotations are slower by `factor`, fast ones stay, and those
// between are mixed. A rotation is slow if it turns less than low_frequency_factor times in the trained context.
struct RopeScaling {
  double factor = 8, low_frequency_factor = 1, high_frequency_factor = 4;
  int trained_positions = 8192;
};

struct TextConfig {
  int vocab_size = 151936, hidden_size = 2048, intermediate_size = 11008, num_hidden_layers = 36;
  int num_attention_heads = 16, num_key_value_heads = 2, max_position_embeddings = 128000;
  double rms_norm_eps = 1e-6, rope_theta = 1e6;
  std::optional<RopeScaling> rope_scaling;
  std::array<int, 3> mrope_section{16, 24, 24};  // sums to head_dim / 2; of a text model all are on the first axis
  bool interleaves_axes = false;  // the axes take turns, until the first is left alone; else one comes after the other
  bool tie_word_embeddings = true;
  bool qkv_bias = true, attention_out_bias = false, mlp_bias = false;
  bool normalises_heads = false;  // each query and key, by an RMS norm over the head before it is rotated
  int head_size = 0;              // 0: hidden_size / num_attention_heads
  int head_dim() const { return head_size > 0 ? head_size : hidden_size / num_attention_heads; }
};
// A rotation's radians a position, slowed down; in fp32, as transformers computes it.
float scaled_frequency(float frequency, const RopeScaling& scaling);
// The axis (0 time, 1 height, 2 width) whose position each frequency turns by: [head_dim / 2].
std::vector<int> frequency_axes(const TextConfig& config);

struct ModelConfig {
  std::string model_type = "qwen2_5_vl";
  std::optional<VisionConfig> vision = VisionConfig{};  // nothing: a text model
  TextConfig text;
  // -1: a text model has none.
  std::int32_t image_token_id = 151655, video_token_id = 151656, vision_start_token_id = 151652,
               vision_end_token_id = 151653;
  std::vector<std::int32_t> eos_token_ids{151645};  // none: generation_config.json has them
  // Whether what stands at that token is of a picture or a video.
  bool shows(std::int32_t id) const { return id == image_token_id || id == video_token_id; }
};

// Accepts the flat layout (hub files of Qwen2-VL and Qwen2.5-VL) and text_config (newer saves), rope_scaling and
// rope_parameters. Throws Error naming the key for a missing, ill-typed or contradictory value, and for an unknown
// model_type with the list of those that are known. `source` names the file.
ModelConfig parse_model_config(const Json& json, const std::string& source);
Json to_json(const ModelConfig& config);  // loads in transformers 5 and back here

}  // namespace agon::agents
