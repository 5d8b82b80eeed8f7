#include "agents/hub/gguf/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "agents/hub/architecture.h"
#include "agents/hub/gguf/key_reader.h"
#include "agents/hub/gguf/tokenizer.h"
#include "agents/hub/gguf/vision.h"
#include "agents/hub/model_folder.h"
#include "agents/hub/tensor_type.h"
#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::agents {

namespace fs = std::filesystem;

namespace {

bool has_tensor(const GgufFile& file, const char* name) { return file.tensors().contains(name); }

// llama.cpp stores the divisors of Llama 3's frequencies, not the parameters that they were computed from. This
// recovers the parameters.
std::optional<RopeScaling> find_scaling(std::span<const float> divisors, double theta) {
  constexpr int kLeastTrained = 16, kMostTrained = 1 << 24;
  const auto frequency = [&](std::size_t i) {
    return static_cast<float>(std::pow(theta, -static_cast<double>(i) / static_cast<double>(divisors.size())));
  };
  for (int trained = kLeastTrained; trained <= kMostTrained; trained *= 2) {
    const RopeScaling scaling{*std::max_element(divisors.begin(), divisors.end()), 1, 4, trained};
    bool fits = scaling.factor > 1;
    for (std::size_t i = 0; fits && i < divisors.size(); ++i)
      fits = std::abs(frequency(i) / scaled_frequency(frequency(i), scaling) - divisors[i]) < 1e-4f * divisors[i];
    if (fits) return scaling;
  }
  return std::nullopt;
}

void read_scaled_rope(const GgufFile& file, const GgufKeyReader& keys, Json& config) {
  const auto found = file.tensors().find("rope_freqs.weight");
  if (found == file.tensors().end()) return;
  const TensorView& tensor = found->second;
  if (tensor.dtype != "F32" || tensor.shape.size() != 1 || !config["rope_theta"].is_number())
    keys.fail("rope.freq_base", "missing, or rope_freqs.weight is not a row of F32");
  std::vector<float> divisors(static_cast<std::size_t>(tensor.shape[0]));
  read_values(*find_tensor_type("F32"), tensor.bytes, divisors);
  const auto scaling = find_scaling(divisors, config["rope_theta"].get<double>());
  if (!scaling)
    keys.fail("rope.scaling",
              "rope_freqs.weight does not divide the frequencies as Llama 3 does. Use the hub's folder "
              "of this model");
  config["rope_parameters"] = {{"rope_type", "llama3"},
                               {"factor", scaling->factor},
                               {"low_freq_factor", scaling->low_frequency_factor},
                               {"high_freq_factor", scaling->high_frequency_factor},
                               {"original_max_position_embeddings", scaling->trained_positions}};
}

// The number by which the scaling divides each frequency.
std::vector<float> divisors_of(const TextConfig& text) {
  std::vector<float> divisors;
  for (int i = 0; i < text.head_dim() / 2; ++i) {
    const auto frequency = static_cast<float>(std::pow(text.rope_theta, -2.0 * i / text.head_dim()));
    divisors.push_back(frequency / scaled_frequency(frequency, *text.rope_scaling));
  }
  return divisors;
}

// The text models of the Qwen-VL families. Qwen2-VL and Qwen2.5-VL share a name; their tower tells them apart.
constexpr std::string_view kQwen2Sees = "qwen2vl", kQwen3Sees = "qwen3vl";

bool may_see(const std::string& type) { return type == kQwen2Sees || type == kQwen3Sees; }

// The model type for a GGUF file's architecture; without a tower, that of a text model.
std::string known_type(const std::string& type, const GgufVision* vision) {
  if (!may_see(type)) return type;
  if (!vision) return type == kQwen2Sees ? "qwen2" : "qwen3";
  const std::string tower = gguf_vision_model_type(*vision->file, vision->source);
  if ((tower == "qwen3_vl") != (type == kQwen3Sees))
    throw Error("{}: the tower of {} is not one of a text of {}. Which mmproj file belongs to the model?",
                vision->source, tower, type);
  return tower;
}

const Architecture& architecture_of(const std::string& type, const GgufVision* vision, const std::string& source) {
  const std::string known = known_type(type, vision);
  const Architecture* const architecture = find_architecture(known);
  if (!architecture || architecture->sees() != (vision != nullptr))
    throw Error("{}: general.architecture: {} is not read from GGUF. agon knows {}.", source, shown_text(type),
                known_architectures());
  return *architecture;
}

void add_sight(const GgufKeyReader& keys, const std::string& type, const GgufVision& vision, Json& config) {
  const Json sections = keys.list(type + ".rope.dimension_sections");
  config["rope_parameters"] = {{"rope_type", "default"}, {"mrope_section", Json::array()}};
  for (std::size_t axis = 0; axis < std::min<std::size_t>(sections.size(), 3); ++axis)
    config["rope_parameters"]["mrope_section"].push_back(sections[axis]);
  config["vision_config"] = gguf_vision_config(*vision.file, vision.source);
  config["image_token_id"] = gguf_token_id(keys, "<|image_pad|>");
  config["video_token_id"] = gguf_token_id(keys, "<|video_pad|>");
  config["vision_start_token_id"] = gguf_token_id(keys, "<|vision_start|>");
  config["vision_end_token_id"] = gguf_token_id(keys, "<|vision_end|>");
}

// Tensors of a layer and of the model, by llama.cpp's names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kLayerNames = {
    {{"attn_norm", "input_layernorm"},
     {"ffn_norm", "post_attention_layernorm"},
     {"attn_q", "self_attn.q_proj"},
     {"attn_k", "self_attn.k_proj"},
     {"attn_v", "self_attn.v_proj"},
     {"attn_output", "self_attn.o_proj"},
     {"attn_q_norm", "self_attn.q_norm"},
     {"attn_k_norm", "self_attn.k_norm"},
     {"ffn_gate", "mlp.gate_proj"},
     {"ffn_up", "mlp.up_proj"},
     {"ffn_down", "mlp.down_proj"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kModelNames = {
    {{"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}}};

template <typename Names>
std::string renamed(const Names& names, std::string_view name) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const auto& pair) { return pair.first == name; });
  return found == names.end() ? "" : std::string(found->second);
}

}  // namespace

std::optional<fs::path> find_gguf(const fs::path& path) {
  std::error_code code;
  if (fs::is_regular_file(path, code)) return path.extension() == ".gguf" ? std::optional(path) : std::nullopt;
  if (!fs::is_directory(path, code) || fs::exists(path / "config.json", code)) return std::nullopt;
  std::optional<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, code)) {
    if (entry.path().extension() != ".gguf" || is_mmproj(entry.path())) continue;
    if (found) throw Error("{}: several GGUF files. Name the one to load.", path.string());
    found = entry.path();
  }
  return found;
}

ModelConfig gguf_config(const GgufFile& file, const GgufVision* vision, const std::string& source) {
  const GgufKeyReader keys(file, source);
  const std::string type = keys.text("general.architecture");
  if (!may_see(type)) vision = nullptr;  // the tower belongs to another model in that folder
  const Architecture& architecture = architecture_of(type, vision, source);
  Json config{{"model_type", architecture.model_type}, {"hidden_act", "silu"}};
  const auto copy = [&](const char* to, const char* from, bool is_needed = true) {
    const std::string key = type + "." + from;
    if (is_needed || keys.find(key)) config[to] = keys.at(key);
  };
  copy("hidden_size", "embedding_length");
  copy("intermediate_size", "feed_forward_length");
  copy("num_hidden_layers", "block_count");
  copy("num_attention_heads", "attention.head_count");
  copy("num_key_value_heads", "attention.head_count_kv", false);
  copy("max_position_embeddings", "context_length");
  copy("rms_norm_eps", "attention.layer_norm_rms_epsilon");
  copy("rope_theta", "rope.freq_base", false);
  copy("head_dim", "attention.key_length", false);
  if (const Json* const scaling = keys.find(type + ".rope.scaling.type"); scaling && *scaling != "none")
    config["rope_parameters"] = {{"rope_type", *scaling}};
  read_scaled_rope(file, keys, config);
  config["vocab_size"] = keys.texts("tokenizer.ggml.tokens").size();
  config["attention_bias"] = architecture.biases != Biases::qkv && has_tensor(file, "blk.0.attn_q.bias");
  config["mlp_bias"] = has_tensor(file, "blk.0.ffn_gate.bias");
  config["tie_word_embeddings"] = !has_tensor(file, "output.weight");
  config["eos_token_id"] = gguf_end_tokens(keys);
  if (architecture.sees()) add_sight(keys, type, *vision, config);
  return parse_model_config(config, source);
}

std::string gguf_chat_template(const GgufFile& file, const std::string& source) {
  return GgufKeyReader(file, source).text("tokenizer.chat_template");
}

std::string hub_name_of_gguf(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || name == "rope_freqs.weight") return "";
  const std::string kind = name.substr(dot), stem = name.substr(0, dot);
  if (const std::string known = renamed(kModelNames, stem); !known.empty()) return known + kind;
  if (!stem.starts_with("blk.")) return name;
  const std::size_t second = stem.find('.', 4);
  if (second == std::string::npos) return name;
  const std::string known = renamed(kLayerNames, std::string_view(stem).substr(second + 1));
  return known.empty() ? name : "model.layers." + stem.substr(4, second - 4) + "." + known + kind;
}

std::vector<std::int64_t> gguf_row_order(const ModelConfig& config, const std::string& hub_name) {
  const bool is_query = hub_name.find(".q_proj.") != std::string::npos;
  if (config.model_type != "llama" || (!is_query && hub_name.find(".k_proj.") == std::string::npos)) return {};
  const std::int64_t heads = is_query ? config.text.num_attention_heads : config.text.num_key_value_heads;
  const std::int64_t size = config.text.head_dim();
  std::vector<std::int64_t> rows;
  for (std::int64_t head = 0; head < heads; ++head)
    for (std::int64_t half = 0; half < 2; ++half)
      for (std::int64_t i = 0; i < size / 2; ++i) rows.push_back(head * size + 2 * i + half);
  return rows;
}

std::string gguf_name_of_hub(const std::string& hub_name) {
  const std::size_t dot = hub_name.rfind('.');
  const std::string stem = hub_name.substr(0, dot), kind = hub_name.substr(dot);
  constexpr std::string_view kLayers = "model.layers.";
  const auto named = [](const auto& names, std::string_view hub) {
    const auto found = std::find_if(names.begin(), names.end(), [&](const auto& pair) { return pair.second == hub; });
    return found == names.end() ? std::string() : std::string(found->first);
  };
  if (const std::string known = named(kModelNames, stem); !known.empty()) return known + kind;
  if (stem.starts_with(kLayers)) {
    const std::size_t end = stem.find('.', kLayers.size());
    if (const std::string known = named(kLayerNames, std::string_view(stem).substr(end + 1)); !known.empty())
      return fmt::format("blk.{}.{}{}", stem.substr(kLayers.size(), end - kLayers.size()), known, kind);
  }
  throw Error("GGUF: there is no name for the tensor {}.", hub_name);
}

std::vector<std::int64_t> gguf_file_order(const ModelConfig& config, const std::string& hub_name) {
  const std::vector<std::int64_t> of_hub = gguf_row_order(config, hub_name);
  std::vector<std::int64_t> of_file(of_hub.size());
  for (std::size_t row = 0; row < of_hub.size(); ++row)
    of_file[static_cast<std::size_t>(of_hub[row])] = static_cast<std::int64_t>(row);
  return of_file;
}

std::vector<float> gguf_rope_divisors(const ModelConfig& config) {
  if (!config.text.rope_scaling) return {};
  const RopeScaling& scaling = *config.text.rope_scaling;
  std::vector<float> divisors = divisors_of(config.text);
  const auto found = find_scaling(divisors, config.text.rope_theta);
  if (config.model_type != "llama" || !found || found->factor != static_cast<float>(scaling.factor) ||
      found->trained_positions != scaling.trained_positions)
    throw Error(
        "GGUF: positions scaled with factor {}, low_freq_factor {}, high_freq_factor {} and {} trained "
        "positions cannot be written for a model of type {}. These files keep those of llama models with "
        "low_freq_factor 1 and high_freq_factor 4.",
        scaling.factor, scaling.low_frequency_factor, scaling.high_frequency_factor, scaling.trained_positions,
        config.model_type);
  return divisors;
}

std::vector<GgufKey> gguf_keys(const ModelFolder& parts, const std::string& name) {
  const ModelConfig& config = parts.config;
  const bool is_stacked = config.vision && config.vision->tower->is_stacked;
  const std::string type(is_stacked ? kQwen3Sees : config.vision ? kQwen2Sees : config.model_type);
  const TextConfig& text = config.text;
  std::vector<GgufKey> keys{{"general.architecture", type}, {"general.name", name}};
  const auto number = [&](const char* key, int value) {
    keys.push_back({type + "." + key, static_cast<std::uint32_t>(value)});
  };
  number("embedding_length", text.hidden_size);
  number("feed_forward_length", text.intermediate_size);
  number("block_count", text.num_hidden_layers);
  number("attention.head_count", text.num_attention_heads);
  number("attention.head_count_kv", text.num_key_value_heads);
  number("attention.key_length", text.head_dim());
  number("attention.value_length", text.head_dim());
  number("rope.dimension_count", text.head_dim());
  number("context_length", text.max_position_embeddings);
  number("vocab_size", text.vocab_size);
  keys.push_back({type + ".attention.layer_norm_rms_epsilon", static_cast<float>(text.rms_norm_eps)});
  if (is_stacked) number("n_deepstack_layers", static_cast<int>(config.vision->deepstack_blocks.size()));
  if (config.vision) {
    const auto& [time, height, width] = text.mrope_section;
    keys.push_back({type + ".rope.dimension_sections", std::vector<std::int32_t>{time, height, width, 0}});
  }
  keys.push_back({type + ".rope.freq_base", static_cast<float>(text.rope_theta)});
  std::ranges::move(gguf_tokenizer_keys(parts), std::back_inserter(keys));
  return keys;
}

}  // namespace agon::agents
