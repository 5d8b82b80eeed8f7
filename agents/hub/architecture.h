// agents/hub/architecture.h - the table of model architectures that agon supports, with the features in which they
// differ. The parser of config.json, the engine and the torch network read it; no other code depends on a model's name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace agon::agents {

// Which linears have biases. qkv: queries, keys and values. attention_by_config: all four of attention, if
// "attention_bias" is true. all_by_config: the same, and those of the MLP if "mlp_bias" is true.
enum class Biases { qkv, attention_by_config, all_by_config };

// The MLP of a block: down(silu(gate) * up), or out(f(in)) with one of two approximations of GELU.
enum class Mlp { swiglu, quick_gelu, tanh_gelu };

// How the text model learns when a video's frames are shown. frames: the time position is the index of the temporal
// patch. seconds: that index times the whole seconds per patch, in units of 1 / tokens_per_second. timestamps: a text
// such as "<0.3 seconds>" precedes each temporal patch, and each temporal patch is a picture of its own.
enum class VideoTime { frames, seconds, timestamps };

// The features in which vision towers differ. Names are those of the hub's tensors.
struct Tower {
  std::string_view model_type;  // of vision_config
  Mlp mlp;
  std::string_view activation;       // "hidden_act" of the MLP
  std::string_view mlp_in, mlp_out;  // for swiglu: "" (gate_proj and up_proj), "down_proj"
  std::string_view merger_norm, merger_in, merger_out;
  bool is_centred = false;     // norms are LayerNorms with a bias; else RMS norms
  bool has_windows = false;    // some blocks, listed in the config, see the whole frame; the others see windows of it
  bool has_mlp_ratio = false;  // the config has embed_dim, mlp_ratio and the text's hidden_size
  bool learns_places = false;  // patches get learned position embeddings; the patch embedding has a bias
  bool is_stacked = false;     // DeepStack: states of some blocks are added to the first layers of the text
  VideoTime video_time = VideoTime::frames;
};
extern const Tower kQwen2Tower, kQwen25Tower, kQwen3Tower;

struct Architecture {
  std::string_view model_type;  // of config.json
  std::string_view class_name;  // "architectures" of config.json
  std::string_view text_type;   // model_type of its text_config; empty: the file has no text_config
  Biases biases;
  bool normalises_heads;                          // an RMS norm on each query and key head before rotation
  const Tower* tower = nullptr;                   // null: a text model
  bool interleaves_axes = false;                  // M-RoPE frequencies alternate between the axes (TextConfig)
  bool nests_names = false;                       // tensors are named model.visual., model.language_model. (hub_name)
  bool sees() const { return tower != nullptr; }  // has a vision tower, and M-RoPE positions with three axes
};

std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view model_type);  // null: unknown
std::string known_architectures();                                   // "llama, qwen2, ..."

}  // namespace agon::agents
