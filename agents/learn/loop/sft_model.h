// agents/learn/loop/sft_model.h - a model in supervised training: weights, the auxiliary object head, the optimiser,
// and the training step.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/learn/data/sft/batch.h"
#include "agents/learn/loop/optimizer.h"
#include "agents/learn/loop/sft_config.h"
#include "agents/learn/network/transformer_network.h"

namespace agon::agents {

struct SftLoss {
  double language = 0;  // mean cross-entropy of the trained tokens, nats
  double objects = 0;   // class and box cross-entropy of the vision tokens; 0 if not trained
};

class SftModel {
 public:
  // Fresh weights by the recipe for small widths: linear normal(0, 0.7 / sqrt(fan in)), embeddings normal(0, 0.05),
  // biases 0.
  SftModel(const SftConfig& config, const ModelConfig& model, int classes);
  ~SftModel();

  // One optimiser step on the mean of the batches' losses: next token, plus auxiliary_weight x the object loss. Returns
  // each batch's figures. Throws Error when a loss is not finite; the weights are then unchanged.
  std::vector<SftLoss> step(std::span<const SftBatch> batches, double learning_rate, double auxiliary_weight);

  TransformerNetwork& model() { return *model_; }
  void save_training_state(const std::filesystem::path& folder) const;  // optimiser and object head
  void load_training_state(const std::filesystem::path& folder);        // throws Error for a damaged file

 private:
  at::Tensor language_loss(const SftBatch& batch, at::Tensor* pictures);
  SftLoss accumulate(const SftBatch& batch, double auxiliary_weight, double share);
  at::Tensor object_loss(const at::Tensor& pictures, const SftBatch& batch);
  std::vector<at::Tensor> parameters() const;

  int classes_;
  double clip_norm_;
  std::shared_ptr<TransformerNetwork> model_;
  std::map<std::string, at::Tensor> object_head_;  // "weight" [outputs, hidden], "bias" [outputs]
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace agon::agents
