// agents/engine/weights.h - the weights of a checkpoint as the engine's kernels read them, packed once.
// Immutable after loading.
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
  std::vector<float> weight, bias;  // bias: of a LayerNorm; empty: an RMS norm
};

// A pre-norm transformer block, of the decoder or of the vision tower. qkv: queries, keys, values one after another;
// gate_up likewise, or the one linear that an MLP without a gate begins with.
struct BlockWeights {
  NormWeights attention_norm, mlp_norm;
  std::vector<float> query_norm, key_norm;  // [head_dim], or empty: heads are not normalised
  Mlp mlp = Mlp::swiglu;
  TypedLinear qkv, attention_out, gate_up, down;
};

// Makes one image token of a block of merged patches. The norm's width is a patch's, or that of the merged ones.
struct MergerWeights {
  NormWeights norm;
  TypedLinear in, out;
};

struct VisionWeights {
  TypedLinear patch_embed;
  std::vector<float> places;  // [position_embeddings, hidden_size], or empty
  std::vector<BlockWeights> blocks;
  MergerWeights merger;
  std::vector<MergerWeights> deepstack;  // of each of deepstack_blocks
};

struct EngineWeights {
  VisionWeights vision;                          // empty: a text model
  std::shared_ptr<const TypedLinear> embedding;  // [vocab_size, hidden_size]
  std::vector<BlockWeights> layers;
  std::vector<float> norm;
  std::shared_ptr<const TypedLinear> lm_head;      // the embedding if they are tied
  std::vector<std::shared_ptr<const void>> files;  // that views (kernels/linear/bfloat/linear.h) lie in
};

// Calls visit with each linear that passes compute products with: all but an embedding that is not the head.
void for_each_product(const EngineWeights& weights, const std::function<void(const TypedLinear&)>& visit);
std::size_t bytes_of(const EngineWeights& weights);
// Of those, what one more token of every sequence reads: all but the vision tower and an embedding that is not the
// head.
std::size_t step_bytes(const EngineWeights& weights);

// The type that weights of linears are kept in. automatic: the file's, bf16 for BF16 and codes for those of GGUF, else
// fp32. q8, q4: codes of the file's values (make_row_codes); under q4 the embedding and the head have eight bits.
enum class WeightKind { automatic, f32, bf16, q8, q4 };
inline constexpr std::string_view kWeightKinds[] = {"auto", "f32", "bf16", "q8", "q4"};  // their names, in order
std::optional<WeightKind> find_weight_kind(std::string_view name);
inline std::string_view name_of(WeightKind kind) { return kWeightKinds[static_cast<std::size_t>(kind)]; }

// Loads the weights of a model folder or GGUF file, by their hub names (`visual.` and `model.`, or `model.visual.` and
// `model.language_model.`). Throws one Error that lists every tensor that is missing, not expected or of another shape
// than the config asks for.
EngineWeights load_engine_weights(const std::filesystem::path& folder, const ModelConfig& config,
                                  WeightKind kind = WeightKind::automatic);
// Throws that Error for a model that would not load, and reads no values.
void check_engine_weights(const std::filesystem::path& folder, const ModelConfig& config);
// load_engine_weights from tensors in memory, by their hub names.
EngineWeights make_engine_weights(const std::map<std::string, TensorView>& tensors, const ModelConfig& config);

}  // namespace agon::agents
