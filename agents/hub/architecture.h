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

struct Architecture {
  std::string_view model_type;  // of config.json
  std::string_view class_name;  // "architectures" of config.json
  std::string_view text_type;   // model_type of its text_config; empty: the text's keys are the file's own
  Biases biases;
  bool normalises_heads;  // each query and key is normalised before it is rotated
  bool sees;              // it has a vision tower, and positions with three axes (M-RoPE)
};

std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view model_type);  // null: unknown
std::string known_architectures();                                   // "llama, qwen2, ..."

}  // namespace agon::agents
