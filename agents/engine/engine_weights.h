// agents/engine/engine_weights.h - the weights of a checkpoint as the engine's kernels read them: fp32, packed once.
// Immutable after loading.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agents/hub/model_config.h"
#include "agents/hub/safetensors.h"
#include "kernels/linear/linear.h"

namespace agon::agents {

// A pre-norm transformer block, of the decoder or of the vision tower. qkv: queries, keys, values one after another;
// gate_up likewise.
struct BlockWeights {
  std::vector<float> attention_norm, mlp_norm;
  std::vector<float> query_norm, key_norm;  // [head_dim], or empty: heads are not normalised
  kernels::PackedLinear qkv, attention_out, gate_up, down;
};

struct VisionWeights {
  kernels::PackedLinear patch_embed;  // no bias
  std::vector<BlockWeights> blocks;
  std::vector<float> merger_norm;
  kernels::PackedLinear merger_in, merger_out;
};

struct EngineWeights {
  VisionWeights vision;  // empty: a text model
  std::vector<float> embedding;  // [vocab_size, hidden_size]
  std::vector<BlockWeights> layers;
  std::vector<float> norm;
  kernels::PackedLinear lm_head;  // the embedding if they are tied
};

// Loads the safetensors of a model folder, by their hub names (`visual.` and `model.`, or `model.visual.` and
// `model.language_model.`); F32, F16 or BF16. Throws one Error that lists every tensor that is missing, not expected or
// of another shape than the config asks for.
EngineWeights load_engine_weights(const std::filesystem::path& folder, const ModelConfig& config);
// The same from tensors in memory, by their hub names.
EngineWeights make_engine_weights(const std::map<std::string, TensorView>& tensors, const ModelConfig& config);

}  // namespace agon::agents
