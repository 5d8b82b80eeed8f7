// agents/local/qwen2_5_vl.h - Qwen2.5-VL in LibTorch, for training and scoring; module names equal the hub's state
// dict, so that named_parameters() prints the checkpoint's keys (visual.blocks.0.attn.qkv.weight,
// model.layers.0.self_attn.q_proj.weight, ...). Generation runs in agents/local/engine.h on the same weights. Letters:
// B batch, S positions, H hidden, V vocabulary, P patches, M merged vision tokens.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <map>
#include <memory>
#include <span>
#include <string>

#include "agents/local/image_processor.h"
#include "agents/local/model_config.h"

namespace agon::agents {

struct PackedBatch;

// What an adapter (agents/local/lora.h) adds to a linear: scale * (x A^T) B^T, A [rank, inputs], B [outputs, rank].
struct LowRank {
  torch::Tensor a, b;
  double scale = 1;
};
struct AdaptableLinear {
  torch::Tensor weight;               // [outputs, inputs]
  std::shared_ptr<LowRank> low_rank;  // shared with the layer that reads it; undefined tensors: nothing is added
};

class Qwen25VLImpl : public torch::nn::Module {
 public:
  explicit Qwen25VLImpl(
      const ModelConfig& config);  // weights drawn as transformers does: normal(0, 0.02), zero biases, unit norms
  ~Qwen25VLImpl() override;

  // patches [P, C*T*p*p] of all pictures one after another -> [M, H] in the order of the image tokens.
  torch::Tensor encode_images(const torch::Tensor& patches, std::span<const ImageGrid> grids);
  // ids [B, S] int64, right-padded; positions [3, B, S] int64; image_embeddings [M, H] (undefined: no picture) fill the
  // image tokens in row-major order (their number must match: Error); lengths [B]: real tokens of each row. -> last
  // hidden states after the norm [B, S, H].
  torch::Tensor hidden_states(const torch::Tensor& ids, const torch::Tensor& positions,
                              const torch::Tensor& image_embeddings, std::span<const std::int64_t> lengths);
  // The same for groups that hold each prompt once (agents/local/packed_groups.h), exact to the rows of prompt +
  // response: [R, H] after the norm. image_embeddings: of batch.patches.
  torch::Tensor packed_hidden_states(const PackedBatch& batch, const torch::Tensor& image_embeddings);
  torch::Device device() const;                       // of the weights; inputs lie there too
  const torch::Tensor& lm_head() const;               // [V, H], or the tied embedding
  torch::Tensor logits(const torch::Tensor& hidden);  // [..., H] -> [..., V] through lm_head (or the tied embedding)
  // The linears of the vision tower and the decoder by module name ("model.layers.0.self_attn.q_proj"); without the
  // patch embedding and the LM head.
  const std::map<std::string, AdaptableLinear>& linears() const;
  const ModelConfig& config() const { return config_; }
  // One more token, read as `embedding` [H]: a new last row of the embedding and of the LM head. Returns its id.
  std::int32_t add_token(const torch::Tensor& embedding);

 private:
  ModelConfig config_;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};
TORCH_MODULE(Qwen25VL);

}  // namespace agon::agents
