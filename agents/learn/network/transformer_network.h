// agents/learn/network/transformer_network.h - the language and vision-language models that agon supports
// (agents/hub/architecture.h), as one LibTorch network for training, scoring and the engine's torch backend
// (agents/learn/backend/torch_backend.h). Its parameters have the names of the hub's state dict
// (visual.blocks.0.attn.qkv.weight, model.layers.0.self_attn.q_proj.weight, ...). Letters: B batch, S positions, R
// rows, d width of a head, H hidden, V vocabulary, P patches, M merged vision tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agents/hub/model_config.h"
#include "agents/hub/pictures/image_processor.h"

namespace agon::agents {

struct PackedBatch;

// The term that an adapter (agents/learn/network/lora.h) adds to a linear: scale * (x A^T) B^T with A [rank, inputs]
// and B [outputs, rank].
struct LowRank {
  at::Tensor a, b;
  double scale = 1;
};
struct AdaptableLinear {
  at::Tensor weight;                  // [outputs, inputs]
  std::shared_ptr<LowRank> low_rank;  // shared with the layer that reads it; undefined tensors: nothing is added
};

// Attention of a layer: queries [R, heads, d], keys and values [R, key-value heads, d] -> [R, heads * d].
using LayerAttention =
    std::function<at::Tensor(std::size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)>;

class TransformerNetwork {
 public:
  explicit TransformerNetwork(
      const ModelConfig& config);  // weights drawn as transformers does: normal(0, 0.02), zero biases, unit norms
  // Uninitialised weights without gradients, of the type and on the device of `blank`. Load or set them before use.
  TransformerNetwork(const ModelConfig& config, const at::TensorOptions& blank);
  ~TransformerNetwork();
  TransformerNetwork(const TransformerNetwork&) = delete;
  TransformerNetwork& operator=(const TransformerNetwork&) = delete;

  // patches [P, C*T*p*p], fp32, of all pictures one after another -> [M, H] in the order of the image tokens. With
  // DeepStack [M, vectors_a_token() * H]: the embeddings, then the vectors that are added after each of the first
  // layers.
  at::Tensor encode_images(const at::Tensor& patches, std::span<const ImageGrid> grids);
  // ids [B, S] int64, right-padded; positions [3, B, S] int64; image_embeddings of encode_images (undefined: no
  // picture) fill the image tokens in row-major order (their number must match, else Error); lengths [B]: real tokens
  // of each row. -> last hidden states after the norm [B, S, H].
  at::Tensor hidden_states(const at::Tensor& ids, const at::Tensor& positions, const at::Tensor& image_embeddings,
                           std::span<const std::int64_t> lengths);
  // The same for groups that hold each prompt once (agents/learn/network/packed_batch.h), equal to the rows of prompt
  // + response: [R, H] after the norm. image_embeddings: of batch.patches.
  at::Tensor packed_hidden_states(const PackedBatch& batch, const at::Tensor& image_embeddings);
  // The same where `attention` keeps the keys and values of earlier rows: ids [R], positions [3, R] -> [R, H]. slots:
  // indices of the rows of image tokens, ascending, with their image_embeddings; both undefined: none.
  at::Tensor row_states(const at::Tensor& ids, const at::Tensor& positions, const at::Tensor& slots,
                        const at::Tensor& image_embeddings, const LayerAttention& attention);
  at::Device device() const;                    // device of the weights and of all inputs
  const at::Tensor& lm_head() const;            // [V, H], or the tied embedding
  at::Tensor logits(const at::Tensor& hidden);  // [..., H] -> [..., V] through lm_head (or the tied embedding)
  // The trained parameters by name, in the order of the modules. The tensors are the model's own.
  const std::vector<std::pair<std::string, at::Tensor>>& named_parameters() const;
  std::vector<at::Tensor> parameters() const;
  void to(at::Device device);
  // The linears of the vision tower and the decoder by module name ("model.layers.0.self_attn.q_proj"); without the
  // patch embedding and the LM head.
  const std::map<std::string, AdaptableLinear>& linears() const;
  const ModelConfig& config() const { return config_; }
  // Adds a token: `embedding` [H] becomes a new last row of the embedding and of the LM head. Returns the token's id.
  std::int32_t add_token(const at::Tensor& embedding);

 private:
  ModelConfig config_;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace agon::agents
