// agents/engine/weights.h - loads the weights of a checkpoint into the layout that the engine's kernels read. Immutable
// after loading, except that agents/engine/weight_packer.h packs rows in the background.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/engine/typed_linear.h"
#include "agents/hub/model_config.h"
#include "agents/hub/safetensors.h"

namespace agon::agents {

struct NormWeights {
  std::vector<float> weight, bias;  // bias: empty for an RMS norm, else a LayerNorm
};

// A pre-norm transformer block of the decoder or the vision tower. qkv: queries, keys and values concatenated; gate_up:
// gate and up concatenated, or the first linear of an MLP without a gate.
struct BlockWeights {
  NormWeights attention_norm, mlp_norm;
  std::vector<float> query_norm, key_norm;  // [head_dim], or empty: heads are not normalised
  Mlp mlp = Mlp::swiglu;
  TypedLinear qkv, attention_out, gate_up, down;
};

// Merges a block of patches into one image token. The norm has the width of one patch, or of the merged block.
struct MergerWeights {
  NormWeights norm;
  TypedLinear in, out;
};

struct VisionWeights {
  TypedLinear patch_embed;
  std::vector<float> places;  // [position_embeddings, hidden_size], or empty
  std::vector<BlockWeights> blocks;
  MergerWeights merger;
  std::vector<MergerWeights> deepstack;  // one for each of deepstack_blocks
};

struct EngineWeights {
  VisionWeights vision;                          // empty: a text model
  std::shared_ptr<const TypedLinear> embedding;  // [vocab_size, hidden_size]
  std::vector<BlockWeights> layers;
  std::vector<float> norm;
  std::shared_ptr<const TypedLinear> lm_head;      // the same object as the embedding if they are tied
  std::vector<std::shared_ptr<const void>> files;  // keep alive what views (kernels/linear/bfloat/linear.h) point to
};

// Calls visit with each linear that is used in products: all except an embedding that is not also the head.
void for_each_product(const EngineWeights& weights, const std::function<void(const TypedLinear&)>& visit);
std::size_t bytes_of(const EngineWeights& weights);
// Bytes of the weights that a decode step reads: all but the vision tower and an embedding that is not also the head.
std::size_t step_bytes(const EngineWeights& weights);

// The type in which weights of linears are stored. automatic: bf16 for BF16 tensors, GGUF's codes for its quantised
// ones, else fp32. q8, q4: codes made of the file's values (make_row_codes); with q4 the embedding and the head have
// eight bits.
enum class WeightKind { automatic, f32, bf16, q8, q4 };
inline constexpr std::string_view kWeightKinds[] = {"auto", "f32", "bf16", "q8", "q4"};  // their names, in order
std::optional<WeightKind> find_weight_kind(std::string_view name);
inline std::string_view name_of(WeightKind kind) { return kWeightKinds[static_cast<std::size_t>(kind)]; }

// Loads the weights of a model folder or GGUF file, by their hub names (`visual.` and `model.`, or `model.visual.` and
// `model.language_model.`). Throws one Error that lists every tensor that is missing, not expected or of another shape
// than the config asks for.
EngineWeights load_engine_weights(const std::filesystem::path& folder, const ModelConfig& config,
                                  WeightKind kind = WeightKind::automatic);
// Throws the same Error for a model that would not load, without reading any values.
void check_engine_weights(const std::filesystem::path& folder, const ModelConfig& config);
// Like load_engine_weights, from tensors in memory by their hub names.
EngineWeights make_engine_weights(const std::map<std::string, TensorView>& tensors, const ModelConfig& config);

}  // namespace agon::agents
