#include "agents/engine/engine_weights.h"

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "agents/hub/safetensors.h"
#include "core/error.h"

namespace agon::agents {
namespace {

using Shape = std::vector<std::int64_t>;

std::int64_t elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

float bits_to_float(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16, rest = half & 0x7fff;
  if (rest >= 0x7c00) return bits_to_float(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  // Shifted into a float's fields the exponent is too small by 112: a multiplication corrects it, for denormals too.
  return bits_to_float(sign | rest << 13) * 0x1p112f;
}

std::vector<float> to_floats(const TensorView& tensor) {
  std::vector<float> values(static_cast<std::size_t>(elements(tensor.shape)));
  if (tensor.dtype == "F32") {
    std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(float));
    return values;
  }
  const bool bfloat = tensor.dtype == "BF16";
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t half;
    std::memcpy(&half, tensor.bytes.data() + 2 * i, sizeof half);
    values[i] = bfloat ? bits_to_float(static_cast<std::uint32_t>(half) << 16) : half_to_float(half);
  }
  return values;
}

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

// Hands out the tensors of a checkpoint, and collects errors until finish().
class Checkpoint {
 public:
  // The views stay valid while the object lives; `source` names them in messages.
  explicit Checkpoint(std::string source) : source_(std::move(source)) {}
  void add(const std::string& name, const TensorView& tensor) {
    if (!tensors_.emplace(hub_name(name), &tensor).second) problems_.push_back("given twice: " + hub_name(name));
  }

  // Zeros if the tensor is missing or wrong; finish() then throws.
  std::vector<float> take(const std::string& name, const Shape& shape) {
    taken_.insert(name);
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      problems_.push_back(fmt::format("missing: {} {}", name, shape_text(shape)));
      if (problems_.size() == kMostProblems) fail();
    } else if (found->second->shape != shape) {
      problems_.push_back(fmt::format("{}: shape {}, the config asks for {}", name, shape_text(found->second->shape),
                                      shape_text(shape)));
    } else if (const std::string& type = found->second->dtype; type != "F32" && type != "F16" && type != "BF16") {
      problems_.push_back(fmt::format("{}: type {}, not one of F32, F16, BF16", name, type));
    } else {
      return to_floats(*found->second);
    }
    return std::vector<float>(sound() ? static_cast<std::size_t>(elements(shape)) : 0);
  }
  // Several of [outputs_i, inputs], one below the other.
  kernels::PackedLinear linear(const std::vector<std::pair<std::string, std::int64_t>>& parts, std::int64_t inputs,
                               bool bias) {
    std::vector<float> weight, biases;
    std::int64_t outputs = 0;
    for (const auto& [name, rows] : parts) {
      append(weight, take(name + ".weight", {rows, inputs}));
      if (bias) append(biases, take(name + ".bias", {rows}));
      outputs += rows;
    }
    if (!sound()) return {};
    return kernels::pack_linear(weight.data(), bias ? biases.data() : nullptr, static_cast<int>(outputs),
                                static_cast<int>(inputs));
  }
  void ignore(const std::string& name) { taken_.insert(name); }
  bool sound() const { return problems_.empty(); }

  void finish() {
    for (const auto& [name, tensor] : tensors_)
      if (!taken_.contains(name)) problems_.push_back("not expected: " + name);
    if (!sound()) fail();
  }

 private:
  static constexpr std::size_t kMostProblems = 200;  // a config may ask for millions of layers
  [[noreturn]] void fail() const {
    throw Error("weights: {} does not fit its config.json:\n  {}\nAre both files of the same checkpoint?", source_,
                fmt::join(problems_, "\n  "));
  }
  static void append(std::vector<float>& to, const std::vector<float>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }
  std::string source_;
  std::map<std::string, const TensorView*> tensors_;
  std::set<std::string> taken_;
  std::vector<std::string> problems_;
};

BlockWeights load_layer(Checkpoint& file, const std::string& name, const TextConfig& config) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size, size = config.head_dim();
  const std::string attention = name + ".self_attn.", mlp = name + ".mlp.";
  return {file.take(name + ".input_layernorm.weight", {hidden}),
          file.take(name + ".post_attention_layernorm.weight", {hidden}),
          file.linear({{attention + "q_proj", config.num_attention_heads * size},
                       {attention + "k_proj", config.num_key_value_heads * size},
                       {attention + "v_proj", config.num_key_value_heads * size}},
                      hidden, true),
          file.linear({{attention + "o_proj", hidden}}, config.num_attention_heads * size, false),
          file.linear({{mlp + "gate_proj", inner}, {mlp + "up_proj", inner}}, hidden, false),
          file.linear({{mlp + "down_proj", hidden}}, inner, false)};
}

BlockWeights load_vision_block(Checkpoint& file, const std::string& name, const VisionConfig& config) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const std::string mlp = name + ".mlp.";
  return {file.take(name + ".norm1.weight", {hidden}),
          file.take(name + ".norm2.weight", {hidden}),
          file.linear({{name + ".attn.qkv", 3 * hidden}}, hidden, true),
          file.linear({{name + ".attn.proj", hidden}}, hidden, true),
          file.linear({{mlp + "gate_proj", inner}, {mlp + "up_proj", inner}}, hidden, true),
          file.linear({{mlp + "down_proj", hidden}}, inner, true)};
}

VisionWeights load_vision(Checkpoint& file, const VisionConfig& config) {
  VisionWeights weights;
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t merged = hidden * config.spatial_merge_size * config.spatial_merge_size;
  const Shape kernel{hidden, config.in_channels, config.temporal_patch_size, config.patch_size, config.patch_size};
  const std::vector<float> patch_embed = file.take("visual.patch_embed.proj.weight", kernel);
  if (file.sound())
    weights.patch_embed = kernels::pack_linear(patch_embed.data(), nullptr, config.hidden_size,
                                               static_cast<int>(elements(kernel) / hidden));
  for (int i = 0; i < config.depth; ++i)
    weights.blocks.push_back(load_vision_block(file, fmt::format("visual.blocks.{}", i), config));
  weights.merger_norm = file.take("visual.merger.ln_q.weight", {hidden});
  weights.merger_in = file.linear({{"visual.merger.mlp.0", merged}}, merged, true);
  weights.merger_out = file.linear({{"visual.merger.mlp.2", config.out_hidden_size}}, merged, true);
  return weights;
}

EngineWeights take_all(Checkpoint& file, const ModelConfig& config) {
  EngineWeights weights;
  const TextConfig& text = config.text;
  weights.vision = load_vision(file, config.vision);
  weights.embedding = file.take("model.embed_tokens.weight", {text.vocab_size, text.hidden_size});
  for (int i = 0; i < text.num_hidden_layers; ++i)
    weights.layers.push_back(load_layer(file, fmt::format("model.layers.{}", i), text));
  weights.norm = file.take("model.norm.weight", {text.hidden_size});
  if (!text.tie_word_embeddings) {
    weights.lm_head = file.linear({{"lm_head", text.vocab_size}}, text.hidden_size, false);
  } else {
    file.ignore("lm_head.weight");
    if (file.sound())
      weights.lm_head = kernels::pack_linear(weights.embedding.data(), nullptr, text.vocab_size, text.hidden_size);
  }
  file.finish();
  return weights;
}

}  // namespace

EngineWeights load_engine_weights(const std::filesystem::path& folder, const ModelConfig& config) {
  const auto files = open_checkpoint_weights(folder);
  Checkpoint checkpoint(folder.string());
  for (const auto& file : files)
    for (const auto& [name, tensor] : file->tensors()) checkpoint.add(name, tensor);
  return take_all(checkpoint, config);
}

EngineWeights make_engine_weights(const std::map<std::string, TensorView>& tensors, const ModelConfig& config) {
  Checkpoint checkpoint("the model in memory");
  for (const auto& [name, tensor] : tensors) checkpoint.add(name, tensor);
  return take_all(checkpoint, config);
}

}  // namespace agon::agents
