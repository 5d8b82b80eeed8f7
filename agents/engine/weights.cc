#include "agents/engine/weights.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "agents/engine/compute_pool.h"
#include "agents/engine/packed_rows.h"
#include "agents/hub/checkpoint_tensors.h"
#include "core/error.h"

namespace agon::agents {
namespace {

using Shape = std::vector<std::int64_t>;

std::int64_t elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

enum class Take { values, names };  // names: nothing is read, and all tensors handed out are empty

// Hands out the tensors of a checkpoint and collects errors, which finish() throws.
class Checkpoint {
 public:
  // `source` names the checkpoint in messages.
  Checkpoint(std::string source, const std::map<std::string, CheckpointTensor>& tensors, WeightKind kind,
             Take take = Take::values)
      : source_(std::move(source)), tensors_(tensors), kind_(kind), take_(take) {}

  // Null if the tensor is missing or wrong; finish() then throws.
  const CheckpointTensor* find(const std::string& name, const Shape& shape) {
    taken_.insert(name);
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      problems_.push_back(fmt::format("missing: {} {}", name, shape_text(shape)));
      if (problems_.size() == kMostProblems) fail();
      return nullptr;
    }
    const TensorView& view = found->second.view;
    if (view.shape != shape)
      problems_.push_back(
          fmt::format("{}: shape {}, the config asks for {}", name, shape_text(view.shape), shape_text(shape)));
    else if (!type_of(found->second))
      problems_.push_back(fmt::format("{}: type {}, which holds no weights", name, view.dtype));
    else
      return &found->second;
    return nullptr;
  }
  // The values in fp32; zeros if the tensor is missing or wrong.
  std::vector<float> take(const std::string& name, const Shape& shape) {
    const CheckpointTensor* const tensor = find(name, shape);
    if (tensor && reads()) return values_of(*tensor);
    return std::vector<float>(reads() ? static_cast<std::size_t>(elements(shape)) : 0);
  }
  // One linear of several tensors [outputs_i, inputs], stacked row-wise.
  TypedLinear linear(const std::vector<std::pair<std::string, std::int64_t>>& parts, std::int64_t inputs, bool bias,
                     WeightKind kind) {
    std::vector<LinearRows> rows;
    for (const auto& [name, outputs] : parts) {
      const CheckpointTensor* const weight = find(name + ".weight", {outputs, inputs});
      std::vector<float> biases = bias ? take(name + ".bias", {outputs}) : std::vector<float>();
      if (weight) rows.push_back({*weight, static_cast<int>(outputs), std::move(biases)});
    }
    return reads() ? pack_rows(rows, static_cast<int>(inputs), kind, parallel_) : TypedLinear();
  }
  NormWeights norm(const std::string& name, std::int64_t size, bool bias) {
    return {take(name + ".weight", {size}), bias ? take(name + ".bias", {size}) : std::vector<float>()};
  }
  TypedLinear linear(const std::vector<std::pair<std::string, std::int64_t>>& parts, std::int64_t inputs, bool bias) {
    return linear(parts, inputs, bias, kind_);
  }
  // For the embedding and the head.
  TypedLinear words(const std::string& name, std::int64_t outputs, std::int64_t inputs) {
    return linear({{name, outputs}}, inputs, false, kind_ == WeightKind::q4 ? WeightKind::q8 : kind_);
  }
  void ignore(const std::string& name) { taken_.insert(name); }
  bool reads() const { return problems_.empty() && take_ == Take::values; }

  void finish() {
    for (const auto& [name, tensor] : tensors_)
      if (!taken_.contains(name)) problems_.push_back("not expected: " + name);
    if (!problems_.empty()) fail();
  }

 private:
  static constexpr std::size_t kMostProblems = 200;  // a config may ask for millions of layers
  [[noreturn]] void fail() const {
    throw Error("weights: {} does not fit its config.json:\n  {}\nAre both files of the same checkpoint?", source_,
                fmt::join(problems_, "\n  "));
  }
  const std::string source_;
  const std::map<std::string, CheckpointTensor>& tensors_;
  const WeightKind kind_;
  const Take take_;
  ComputePool pool_{0};
  const kernels::ParallelFor parallel_ = pool_.parallel();
  std::set<std::string> taken_;
  std::vector<std::string> problems_;
};

BlockWeights load_layer(Checkpoint& file, const std::string& name, const TextConfig& config) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size, size = config.head_dim();
  const std::string attention = name + ".self_attn.", mlp = name + ".mlp.";
  BlockWeights block;
  block.attention_norm = file.norm(name + ".input_layernorm", hidden, false);
  block.mlp_norm = file.norm(name + ".post_attention_layernorm", hidden, false);
  if (config.normalises_heads) {
    block.query_norm = file.take(attention + "q_norm.weight", {size});
    block.key_norm = file.take(attention + "k_norm.weight", {size});
  }
  block.qkv = file.linear({{attention + "q_proj", config.num_attention_heads * size},
                           {attention + "k_proj", config.num_key_value_heads * size},
                           {attention + "v_proj", config.num_key_value_heads * size}},
                          hidden, config.qkv_bias);
  block.attention_out =
      file.linear({{attention + "o_proj", hidden}}, config.num_attention_heads * size, config.attention_out_bias);
  block.gate_up = file.linear({{mlp + "gate_proj", inner}, {mlp + "up_proj", inner}}, hidden, config.mlp_bias);
  block.down = file.linear({{mlp + "down_proj", hidden}}, inner, config.mlp_bias);
  return block;
}

BlockWeights load_vision_block(Checkpoint& file, const std::string& name, const VisionConfig& config) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const std::string mlp = name + ".mlp.";
  const Tower& tower = *config.tower;
  BlockWeights block;
  block.mlp = tower.mlp;
  block.attention_norm = file.norm(name + ".norm1", hidden, tower.is_centred);
  block.mlp_norm = file.norm(name + ".norm2", hidden, tower.is_centred);
  block.qkv = file.linear({{name + ".attn.qkv", 3 * hidden}}, hidden, true);
  block.attention_out = file.linear({{name + ".attn.proj", hidden}}, hidden, true);
  if (tower.mlp == Mlp::swiglu)
    block.gate_up = file.linear({{mlp + "gate_proj", inner}, {mlp + "up_proj", inner}}, hidden, true);
  else
    block.gate_up = file.linear({{mlp + std::string(tower.mlp_in), inner}}, hidden, true);
  block.down = file.linear({{mlp + std::string(tower.mlp_out), hidden}}, inner, true);
  return block;
}

std::int64_t merged_size(const VisionConfig& config) {
  return std::int64_t{config.hidden_size} * config.spatial_merge_size * config.spatial_merge_size;
}

MergerWeights load_merger(Checkpoint& file, const std::string& name, std::int64_t norm_size,
                          const VisionConfig& config) {
  const Tower& tower = *config.tower;
  const std::int64_t merged = merged_size(config);
  const auto part = [&](std::string_view of) { return fmt::format("{}.{}", name, of); };
  return {file.norm(part(tower.merger_norm), norm_size, tower.is_centred),
          file.linear({{part(tower.merger_in), merged}}, merged, true),
          file.linear({{part(tower.merger_out), config.out_hidden_size}}, merged, true)};
}

TypedLinear load_patch_embed(Checkpoint& file, const VisionConfig& config) {
  const std::string name = "visual.patch_embed.proj";
  const Shape kernel{config.hidden_size, config.in_channels, config.temporal_patch_size, config.patch_size,
                     config.patch_size};
  const std::vector<float> weight = file.take(name + ".weight", kernel);
  std::vector<float> bias;
  if (config.tower->learns_places) bias = file.take(name + ".bias", {config.hidden_size});
  TypedLinear linear;
  if (file.reads())
    linear.add(kernels::pack_linear(weight.data(), bias.empty() ? nullptr : bias.data(), config.hidden_size,
                                    static_cast<int>(elements(kernel) / config.hidden_size)));
  return linear;
}

VisionWeights load_vision(Checkpoint& file, const VisionConfig& config) {
  VisionWeights weights;
  weights.patch_embed = load_patch_embed(file, config);
  if (config.tower->learns_places)
    weights.places = file.take("visual.pos_embed.weight", {config.position_embeddings, config.hidden_size});
  for (int i = 0; i < config.depth; ++i)
    weights.blocks.push_back(load_vision_block(file, fmt::format("visual.blocks.{}", i), config));
  weights.merger = load_merger(file, "visual.merger", config.hidden_size, config);
  for (std::size_t i = 0; i < config.deepstack_blocks.size(); ++i)
    weights.deepstack.push_back(
        load_merger(file, fmt::format("visual.deepstack_merger_list.{}", i), merged_size(config), config));
  return weights;
}

EngineWeights take_all(Checkpoint& file, const ModelConfig& config) {
  EngineWeights weights;
  const TextConfig& text = config.text;
  if (config.vision) weights.vision = load_vision(file, *config.vision);
  const auto words = [&](const char* name) {
    return std::make_shared<const TypedLinear>(file.words(name, text.vocab_size, text.hidden_size));
  };
  weights.embedding = words("model.embed_tokens");
  for (int i = 0; i < text.num_hidden_layers; ++i)
    weights.layers.push_back(load_layer(file, fmt::format("model.layers.{}", i), text));
  weights.norm = file.take("model.norm.weight", {text.hidden_size});
  weights.lm_head = text.tie_word_embeddings ? weights.embedding : words("lm_head");
  if (text.tie_word_embeddings) file.ignore("lm_head.weight");
  file.finish();
  return weights;
}

using LinearVisitor = std::function<void(const TypedLinear&)>;

void visit_blocks(const std::vector<BlockWeights>& blocks, const LinearVisitor& visit) {
  for (const BlockWeights& block : blocks)
    for (const TypedLinear* const linear : {&block.qkv, &block.attention_out, &block.gate_up, &block.down})
      visit(*linear);
}

void visit_vision(const VisionWeights& vision, const LinearVisitor& visit) {
  visit(vision.patch_embed);
  visit_blocks(vision.blocks, visit);
  const auto visit_merger = [&](const MergerWeights& merger) { visit(merger.in), visit(merger.out); };
  visit_merger(vision.merger);
  std::ranges::for_each(vision.deepstack, visit_merger);
}

std::size_t bytes_in(const std::vector<float>& floats) { return floats.size() * sizeof(float); }
std::size_t bytes_in(const NormWeights& norm) { return bytes_in(norm.weight) + bytes_in(norm.bias); }
std::size_t norm_bytes(const std::vector<BlockWeights>& blocks) {
  std::size_t bytes = 0;
  for (const BlockWeights& block : blocks)
    bytes += bytes_in(block.attention_norm) + bytes_in(block.mlp_norm) + bytes_in(block.query_norm) +
             bytes_in(block.key_norm);
  return bytes;
}
std::size_t norm_bytes(const VisionWeights& vision) {
  std::size_t bytes = norm_bytes(vision.blocks) + bytes_in(vision.places) + bytes_in(vision.merger.norm);
  for (const MergerWeights& merger : vision.deepstack) bytes += bytes_in(merger.norm);
  return bytes;
}

}  // namespace

void for_each_product(const EngineWeights& weights, const LinearVisitor& visit) {
  visit_blocks(weights.layers, visit);
  visit(*weights.lm_head);
  visit_vision(weights.vision, visit);
}

std::size_t step_bytes(const EngineWeights& weights) {
  std::size_t bytes = norm_bytes(weights.layers) + bytes_in(weights.norm) + bytes_of(*weights.lm_head);
  visit_blocks(weights.layers, [&](const TypedLinear& linear) { bytes += bytes_of(linear); });
  return bytes;
}

std::size_t bytes_of(const EngineWeights& weights) {
  std::size_t bytes = step_bytes(weights) + norm_bytes(weights.vision);
  visit_vision(weights.vision, [&](const TypedLinear& linear) { bytes += bytes_of(linear); });
  return weights.embedding == weights.lm_head ? bytes : bytes + bytes_of(*weights.embedding);
}

std::optional<WeightKind> find_weight_kind(std::string_view name) {
  const auto found = std::find(std::begin(kWeightKinds), std::end(kWeightKinds), name);
  if (found == std::end(kWeightKinds)) return std::nullopt;
  return static_cast<WeightKind>(found - std::begin(kWeightKinds));
}

EngineWeights load_engine_weights(const std::filesystem::path& folder, const ModelConfig& config, WeightKind kind) {
  const CheckpointTensors tensors = open_checkpoint_tensors(folder, config);
  Checkpoint checkpoint(folder.string(), tensors.by_name, kind);
  EngineWeights weights = take_all(checkpoint, config);
  weights.files = tensors.files;
  return weights;
}

void check_engine_weights(const std::filesystem::path& folder, const ModelConfig& config) {
  const CheckpointTensors tensors = open_checkpoint_tensors(folder, config);
  Checkpoint checkpoint(folder.string(), tensors.by_name, WeightKind::automatic, Take::names);
  take_all(checkpoint, config);
}

EngineWeights make_engine_weights(const std::map<std::string, TensorView>& tensors, const ModelConfig& config) {
  std::map<std::string, CheckpointTensor> by_name;
  for (const auto& [name, view] : tensors) by_name[hub_name(name)] = {view};
  Checkpoint checkpoint("the model in memory", by_name, WeightKind::automatic);
  return take_all(checkpoint, config);
}

}  // namespace agon::agents
