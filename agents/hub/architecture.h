// agents/hub/architecture.h - the table of architectures that agon knows: what sets one transformer apart from another.
// The parser of config.json, the engine and the torch network read it; nothing else asks for a model's name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace agon::agents {

// Which linears have biases: those of queries, keys and values; what "attention_bias" says of all four of attention;
// and what "mlp_bias" says of the others.
enum class Biases { qkv, attention_by_config, all_by_config };

// The MLP of a block: down(silu(gate) * up), or out(f(in)) with one of two approximations of GELU.
enum class Mlp { swiglu, quick_gelu, tanh_gelu };

// How the text learns when a video's frames are: their positions count frames or seconds, or the prompt says it before
// each ("<0.3 seconds>"), and every one of them is a picture by itself.
enum class VideoTime { frames, seconds, timestamps };

// What sets one vision tower apart from another. Names are those of the hub's tensors.
struct Tower {
  std::string_view model_type;  // of vision_config
  Mlp mlp;
  std::string_view activation;       // "hidden_act": that of the MLP
  std::string_view mlp_in, mlp_out;  // of swiglu: "" (gate_proj and up_proj), "down_proj"
  std::string_view merger_norm, merger_in, merger_out;
  bool is_centred = false;     // its norms are LayerNorms with a bias; else they are RMS norms
  bool has_windows = false;    // a block sees the whole frame or windows of it, as the config says
  bool has_mlp_ratio = false;  // the config has embed_dim, mlp_ratio and the text's hidden_size
  bool learns_places = false;  // patches have a bias, and each place of a picture an embedding that is added to them
  bool is_stacked = false;     // DeepStack: states of some blocks reach the first layers of the text
  VideoTime video_time = VideoTime::frames;
};
extern const Tower kQwen2Tower, kQwen25Tower, kQwen3Tower;

struct Architecture {
  std::string_view model_type;  // of config.json
  std::string_view class_name;  // "architectures" of config.json
  std::string_view text_type;   // model_type of its text_config; empty: the text's keys are the file's own
  Biases biases;
  bool normalises_heads;                          // each query and key is normalised before it is rotated
  const Tower* tower = nullptr;                   // null: it reads text alone
  bool interleaves_axes = false;                  // of M-RoPE
  bool nests_names = false;                       // its files say model.visual. and model.language_model. (hub_name)
  bool sees() const { return tower != nullptr; }  // it has a vision tower, and positions with three axes (M-RoPE)
};

std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view model_type);  // null: unknown
std::string known_architectures();                                   // "llama, qwen2, ..."

}  // namespace agon::agents
