#include "agents/hub/model_config.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "core/error.h"

namespace agon::agents {
namespace {

// Far above any count in a real checkpoint; a larger count means a damaged file, and is refused before anything is
// allocated.
constexpr std::int64_t kLargest = 1 << 24;

// Typed access to one JSON object, with errors that name file and key.
class Section {
 public:
  Section(const Json& json, std::string source, std::string prefix)
      : json_(json), source_(std::move(source)), prefix_(std::move(prefix)) {
    if (!json.is_object()) fail("", fmt::format("an object was expected, it is {}", json.type_name()));
  }
  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw Error("{}: {}{}: {}. Is this the config.json of a checkpoint?", source_, prefix_, key, what);
  }
  // The first key that is present and not null.
  const Json* find(std::initializer_list<const char*> keys) const {
    for (const char* key : keys)
      if (const auto found = json_.find(key); found != json_.end() && !found->is_null()) return &*found;
    return nullptr;
  }
  const Json& at(const char* key) const {
    const Json* value = find({key});
    if (!value) fail(key, "missing");
    return *value;
  }
  Section section(const char* key) const { return with(at(key), key); }
  // Uses `json` as the value of the key; it must outlive the section.
  Section with(const Json& json, const char* key) const { return Section(json, source_, prefix_ + key + "."); }
  int integer(const char* key, std::int64_t low = 1, std::int64_t high = kLargest) const {
    return checked(at(key), key, low, high);
  }
  int integer_or(std::initializer_list<const char*> keys, int fallback) const {
    const Json* value = find(keys);
    return value ? checked(*value, *keys.begin(), 1, kLargest) : fallback;
  }
  double positive(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() <= 0)
      fail(key, fmt::format("{} is not a positive number", value.dump()));
    return value.get<double>();
  }
  double positive_or(const char* key, double fallback) const { return find({key}) ? positive(key) : fallback; }
  bool boolean_or(const char* key, bool fallback) const {
    const Json* value = find({key});
    if (!value) return fallback;
    if (!value->is_boolean()) fail(key, fmt::format("{} is not true or false", value->dump()));
    return value->get<bool>();
  }
  std::vector<int> integers(const char* key, std::int64_t low, std::int64_t high) const {
    const Json& value = at(key);
    if (value.is_number()) return {checked(value, key, low, high)};
    if (!value.is_array() || value.size() > 1024) fail(key, "a list of integers was expected");
    std::vector<int> result;
    for (const Json& item : value) result.push_back(checked(item, key, low, high));
    return result;
  }
  // Throws for a value other than the one that agon implements, instead of ignoring it.
  void only(const char* key, const Json& implemented) const {
    const Json* value = find({key});
    if (value && *value != implemented)
      fail(key, fmt::format("{} is not supported, only {}", value->dump(), implemented.dump()));
  }

 private:
  int checked(const Json& value, const char* key, std::int64_t low, std::int64_t high) const {
    const auto whole = whole_number<std::int64_t>(value, low, high);
    if (!whole) fail(key, fmt::format("{} is not an integer from {} to {}", value.dump(), low, high));
    return static_cast<int>(*whole);
  }
  const Json& json_;
  std::string source_, prefix_;
};

void require(const Section& section, bool holds, const char* key, const std::string& what) {
  if (!holds) section.fail(key, what);
}

struct WidthKeys {
  const char *hidden, *out;
};
WidthKeys width_keys(const Tower& tower) {
  return tower.has_mlp_ratio ? WidthKeys{"embed_dim", "hidden_size"} : WidthKeys{"hidden_size", "out_hidden_size"};
}

void parse_widths(const Section& section, VisionConfig& vision) {
  constexpr int kUsualRatio = 4, kMostRatio = 64;
  const WidthKeys keys = width_keys(*vision.tower);
  vision.hidden_size = section.integer(keys.hidden);
  vision.out_hidden_size = section.integer(keys.out);
  vision.num_heads = section.integer("num_heads");
  if (!vision.tower->has_mlp_ratio)
    vision.intermediate_size = section.integer("intermediate_size");
  else
    vision.intermediate_size =
        vision.hidden_size * (section.find({"mlp_ratio"}) ? section.integer("mlp_ratio", 1, kMostRatio) : kUsualRatio);
  require(section, vision.hidden_size % (vision.num_heads * 4ll) == 0, keys.hidden,
          fmt::format("{} is not a multiple of 4 x num_heads ({})", vision.hidden_size, vision.num_heads));
}

void parse_windows(const Section& section, VisionConfig& vision) {
  if (!vision.tower->has_windows) return;
  vision.window_size = section.integer_or({"window_size"}, vision.window_size);
  if (section.find({"fullatt_block_indexes"}))
    vision.fullatt_block_indexes = section.integers("fullatt_block_indexes", 0, kLargest);
  const std::int64_t merged_patch = std::int64_t{vision.patch_size} * vision.spatial_merge_size;
  require(section, vision.window_size >= merged_patch, "window_size",
          fmt::format("{} is smaller than patch_size x spatial_merge_size ({})", vision.window_size, merged_patch));
}

void parse_places(const Section& section, VisionConfig& vision) {
  if (!vision.tower->learns_places) return;
  vision.position_embeddings = section.integer("num_position_embeddings");
  require(section, vision.places_a_side() * vision.places_a_side() == vision.position_embeddings,
          "num_position_embeddings", fmt::format("{} is not the square of a whole number", vision.position_embeddings));
}

void parse_deepstack(const Section& section, VisionConfig& vision) {
  if (!vision.tower->is_stacked) return;
  vision.deepstack_blocks = section.integers("deepstack_visual_indexes", 0, vision.depth - 1);
  const auto& blocks = vision.deepstack_blocks;
  require(section, std::adjacent_find(blocks.begin(), blocks.end(), std::greater_equal<>()) == blocks.end(),
          "deepstack_visual_indexes", fmt::format("{} is not an ascending list of blocks", Json(blocks).dump()));
}

VisionConfig parse_vision(const Section& section, const Tower& tower) {
  VisionConfig vision;
  vision.tower = &tower;
  section.only("hidden_act", tower.activation);
  vision.depth = section.integer("depth", 1, 1024);
  vision.in_channels = section.integer_or({"in_channels", "in_chans"}, vision.in_channels);
  vision.patch_size = section.integer_or({"patch_size"}, vision.patch_size);
  vision.temporal_patch_size = section.integer_or({"temporal_patch_size"}, vision.temporal_patch_size);
  vision.spatial_merge_size = section.integer_or({"spatial_merge_size"}, vision.spatial_merge_size);
  parse_widths(section, vision);
  parse_windows(section, vision);
  parse_places(section, vision);
  parse_deepstack(section, vision);
  if (tower.video_time == VideoTime::seconds)
    vision.tokens_per_second = section.integer_or({"tokens_per_second"}, vision.tokens_per_second);
  if (section.find({"rope_parameters"})) {
    const Section rope = section.section("rope_parameters");
    rope.only("rope_theta", 10000.0);
    rope.only("rope_type", "axial");
  }
  require(section, vision.in_channels == 3, "in_channels", "only 3 (RGB) is supported");
  return vision;
}

RopeScaling parse_scaling(const Section& rope) {
  RopeScaling scaling{rope.positive("factor"), rope.positive("low_freq_factor"), rope.positive("high_freq_factor"),
                      rope.integer("original_max_position_embeddings")};
  require(rope, scaling.low_frequency_factor < scaling.high_frequency_factor, "low_freq_factor",
          fmt::format("{} is not below high_freq_factor ({})", scaling.low_frequency_factor,
                      scaling.high_frequency_factor));
  return scaling;
}

void parse_axes(const Section& rope, const Architecture& architecture, TextConfig& text) {
  rope.only("mrope_interleaved", architecture.interleaves_axes);
  text.interleaves_axes = architecture.interleaves_axes;
  const std::vector<int> sections = rope.integers("mrope_section", 0, kLargest);
  require(rope, sections.size() == 3, "mrope_section", fmt::format("{} entries instead of 3", sections.size()));
  std::copy(sections.begin(), sections.end(), text.mrope_section.begin());
  const std::int64_t sum = std::int64_t{sections[0]} + sections[1] + sections[2];
  require(rope, sum * 2 == text.head_dim(), "mrope_section",
          fmt::format("the entries sum to {} instead of half of the head size {}", sum, text.head_dim()));
}

// rope_parameters (transformers 5), or rope_scaling and rope_theta (hub files).
void parse_rope(const Section& section, const Architecture& architecture, TextConfig& text) {
  constexpr double kStandardTheta = 10'000;
  const char* const key = section.find({"rope_scaling"}) ? "rope_scaling" : "rope_parameters";
  const Json nothing = Json::object();
  const Section rope = section.find({key}) ? section.section(key) : section.with(nothing, key);
  const Json* const given = rope.find({"rope_type", "type"});
  const Json type = given ? *given : Json("default");
  const Section& theta = rope.find({"rope_theta"}) ? rope : section;
  text.rope_theta =
      architecture.sees() ? theta.positive("rope_theta") : theta.positive_or("rope_theta", kStandardTheta);
  if (type == "llama3" && !architecture.sees())
    text.rope_scaling = parse_scaling(rope);
  else if (type != "default" && !(type == "mrope" && architecture.sees()))
    rope.fail("rope_type", fmt::format("{} is not supported, only \"default\" and {}", type.dump(),
                                       architecture.sees() ? "\"mrope\"" : "\"llama3\""));
  if (architecture.sees())
    parse_axes(rope, architecture, text);
  else
    text.mrope_section = {text.head_dim() / 2, 0, 0};
}

void parse_biases(const Section& section, const Architecture& architecture, TextConfig& text) {
  const bool is_fixed = architecture.biases == Biases::qkv;
  text.attention_out_bias = !is_fixed && section.boolean_or("attention_bias", false);
  text.qkv_bias = is_fixed || text.attention_out_bias;
  text.mlp_bias = architecture.biases == Biases::all_by_config && section.boolean_or("mlp_bias", false);
}

// Throws if some layers use sliding-window attention, which agon does not implement.
void refuse_windows(const Section& section) {
  section.only("use_sliding_window", false);
  const Json* const layers = section.find({"layer_types"});
  if (!layers) return;
  const bool full = layers->is_array() && std::all_of(layers->begin(), layers->end(),
                                                      [](const Json& layer) { return layer == "full_attention"; });
  if (!full) section.fail("layer_types", "only \"full_attention\" is supported");
}

TextConfig parse_text(const Section& section, const Architecture& architecture) {
  TextConfig text;
  section.only("hidden_act", "silu");
  section.only("pretraining_tp", 1);
  refuse_windows(section);
  text.vocab_size = section.integer("vocab_size");
  text.hidden_size = section.integer("hidden_size");
  text.intermediate_size = section.integer("intermediate_size");
  text.num_hidden_layers = section.integer("num_hidden_layers", 1, 1024);
  text.num_attention_heads = section.integer("num_attention_heads");
  text.num_key_value_heads = section.integer_or({"num_key_value_heads"}, text.num_attention_heads);
  text.max_position_embeddings = section.integer("max_position_embeddings");
  text.rms_norm_eps = section.positive("rms_norm_eps");
  const bool has_free_heads = !architecture.sees() || architecture.normalises_heads;  // Qwen2-VL: hidden / heads
  if (has_free_heads && section.find({"head_dim"})) text.head_size = section.integer("head_dim", 2, 1 << 16);
  require(section, text.head_dim() % 2 == 0 && (text.head_size > 0 || text.hidden_size % text.num_attention_heads == 0),
          text.head_size > 0 ? "head_dim" : "hidden_size",
          fmt::format("{} does not give an even head size for num_attention_heads {}",
                      text.head_size > 0 ? text.head_size : text.hidden_size, text.num_attention_heads));
  require(section, text.num_attention_heads % text.num_key_value_heads == 0, "num_key_value_heads",
          fmt::format("{} does not divide num_attention_heads {}", text.num_key_value_heads, text.num_attention_heads));
  section.only("head_dim", text.head_dim());
  text.normalises_heads = architecture.normalises_heads;
  parse_biases(section, architecture, text);
  parse_rope(section, architecture, text);
  return text;
}

// Parses the vision config and the image tokens, which only models with a vision tower have.
void parse_sight(const Section& root, const Architecture& architecture, ModelConfig& config) {
  if (!architecture.sees()) {
    config.vision.reset();
    config.image_token_id = config.video_token_id = config.vision_start_token_id = config.vision_end_token_id = -1;
    return;
  }
  const Section vision = root.section("vision_config");
  config.vision = parse_vision(vision, *architecture.tower);
  require(vision, config.vision->out_hidden_size == config.text.hidden_size, width_keys(*architecture.tower).out,
          fmt::format("{} is not the text's hidden_size {}", config.vision->out_hidden_size, config.text.hidden_size));
  require(vision, std::ssize(config.vision->deepstack_blocks) <= config.text.num_hidden_layers,
          "deepstack_visual_indexes",
          fmt::format("{} entries for a text of {} layers", config.vision->deepstack_blocks.size(),
                      config.text.num_hidden_layers));
  const int last = config.text.vocab_size - 1;
  config.image_token_id = root.integer("image_token_id", 0, last);
  config.video_token_id = root.integer("video_token_id", 0, last);
  config.vision_start_token_id = root.integer("vision_start_token_id", 0, last);
  config.vision_end_token_id = root.integer("vision_end_token_id", 0, last);
}

Json vision_json(const VisionConfig& vision) {
  const Tower& tower = *vision.tower;
  const WidthKeys keys = width_keys(tower);
  Json json{{"model_type", tower.model_type},
            {"depth", vision.depth},
            {keys.hidden, vision.hidden_size},
            {"hidden_act", tower.activation},
            {"num_heads", vision.num_heads},
            {"in_channels", vision.in_channels},
            {keys.out, vision.out_hidden_size},
            {"patch_size", vision.patch_size},
            {"temporal_patch_size", vision.temporal_patch_size},
            {"spatial_merge_size", vision.spatial_merge_size}};
  if (tower.has_mlp_ratio)
    json["mlp_ratio"] = vision.intermediate_size / vision.hidden_size;
  else
    json["intermediate_size"] = vision.intermediate_size;
  if (tower.has_windows)
    json.update({{"window_size", vision.window_size}, {"fullatt_block_indexes", vision.fullatt_block_indexes}});
  if (vision.tokens_per_second != VisionConfig().tokens_per_second)
    json["tokens_per_second"] = vision.tokens_per_second;
  if (tower.learns_places) json["num_position_embeddings"] = vision.position_embeddings;
  if (tower.is_stacked) json["deepstack_visual_indexes"] = vision.deepstack_blocks;
  return json;
}

Json rope_json(const TextConfig& text, bool sees) {
  Json rope{{"rope_type", text.rope_scaling ? "llama3" : "default"}, {"rope_theta", text.rope_theta}};
  if (sees) rope["mrope_section"] = text.mrope_section;
  if (text.interleaves_axes) rope["mrope_interleaved"] = true;
  if (!text.rope_scaling) return rope;
  rope["factor"] = text.rope_scaling->factor;
  rope["low_freq_factor"] = text.rope_scaling->low_frequency_factor;
  rope["high_freq_factor"] = text.rope_scaling->high_frequency_factor;
  rope["original_max_position_embeddings"] = text.rope_scaling->trained_positions;
  return rope;
}

Json text_json(const ModelConfig& config, const Architecture& architecture) {
  const TextConfig& text = config.text;
  Json json = Json::object();
  if (architecture.sees()) json["model_type"] = architecture.text_type;
  json.update({{"vocab_size", text.vocab_size},
               {"hidden_size", text.hidden_size},
               {"hidden_act", "silu"},
               {"intermediate_size", text.intermediate_size},
               {"num_hidden_layers", text.num_hidden_layers},
               {"num_attention_heads", text.num_attention_heads},
               {"num_key_value_heads", text.num_key_value_heads},
               {"max_position_embeddings", text.max_position_embeddings},
               {"rms_norm_eps", text.rms_norm_eps},
               {"rope_parameters", rope_json(text, architecture.sees())}});
  if (text.head_size > 0) json["head_dim"] = text.head_size;
  if (architecture.biases != Biases::qkv) json["attention_bias"] = text.attention_out_bias;
  if (architecture.biases == Biases::all_by_config) json["mlp_bias"] = text.mlp_bias;
  json.update({{"use_sliding_window", false},
               {"bos_token_id", nullptr},
               {"eos_token_id",
                config.eos_token_ids.size() == 1 ? Json(config.eos_token_ids[0]) : Json(config.eos_token_ids)}});
  return json;
}

}  // namespace

bool VisionConfig::sees_whole_frame(int block) const {
  return !tower->has_windows || std::count(fullatt_block_indexes.begin(), fullatt_block_indexes.end(), block) > 0;
}

int VisionConfig::places_a_side() const { return static_cast<int>(std::lround(std::sqrt(position_embeddings))); }

std::vector<int> frequency_axes(const TextConfig& config) {
  std::vector<int> axes;
  for (int axis = 0; axis < 3; ++axis)
    axes.insert(axes.end(), static_cast<std::size_t>(config.mrope_section[static_cast<std::size_t>(axis)]), axis);
  if (!config.interleaves_axes) return axes;
  for (int i = 0; i < static_cast<int>(axes.size()); ++i) {
    const int turn = i % 3;
    axes[static_cast<std::size_t>(i)] = i < 3 * config.mrope_section[static_cast<std::size_t>(turn)] ? turn : 0;
  }
  return axes;
}

float scaled_frequency(float frequency, const RopeScaling& scaling) {
  const auto factor = static_cast<float>(scaling.factor), low = static_cast<float>(scaling.low_frequency_factor),
             high = static_cast<float>(scaling.high_frequency_factor),
             trained = static_cast<float>(scaling.trained_positions);
  const float length = 2 * std::numbers::pi_v<float> / frequency;  // positions per full turn
  if (length > trained / low) return frequency / factor;
  if (length < trained / high) return frequency;
  const float share = (trained / length - low) / (high - low);
  return (1 - share) * frequency / factor + share * frequency;
}

ModelConfig parse_model_config(const Json& json, const std::string& source) {
  const Section root(json, source, "");
  const Json& type = root.at("model_type");
  const Architecture* const architecture = type.is_string() ? find_architecture(type.get<std::string>()) : nullptr;
  if (!architecture)
    throw Error("{}: model_type: {} is not supported. agon knows {}.", source, type.dump(), known_architectures());
  const bool nested = architecture->sees() && root.find({"text_config"});
  const Section text = nested ? root.section("text_config") : root;
  ModelConfig config;
  config.model_type = architecture->model_type;
  config.text = parse_text(text, *architecture);
  config.text.tie_word_embeddings =
      root.boolean_or("tie_word_embeddings", false) || text.boolean_or("tie_word_embeddings", false);
  parse_sight(root, *architecture, config);
  const int last = config.text.vocab_size - 1;
  const Section& ends = root.find({"eos_token_id"}) ? root : text;
  config.eos_token_ids.clear();
  if (!ends.find({"eos_token_id"})) return config;
  config.eos_token_ids = ends.integers("eos_token_id", 0, last);
  require(ends, !config.eos_token_ids.empty(), "eos_token_id", "no id");
  return config;
}

Json to_json(const ModelConfig& config) {
  const Architecture& architecture = *find_architecture(config.model_type);
  Json json{{"architectures", {architecture.class_name}}, {"model_type", config.model_type}, {"dtype", "float32"}};
  if (architecture.sees())
    json.update({{"image_token_id", config.image_token_id},
                 {"video_token_id", config.video_token_id},
                 {"vision_start_token_id", config.vision_start_token_id},
                 {"vision_end_token_id", config.vision_end_token_id}});
  json["tie_word_embeddings"] = config.text.tie_word_embeddings;
  if (architecture.sees())
    json.update({{"text_config", text_json(config, architecture)}, {"vision_config", vision_json(*config.vision)}});
  else
    json.update(text_json(config, architecture));
  return json;
}

}  // namespace agon::agents
